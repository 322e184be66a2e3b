/* SPDX-License-Identifier: Apache-2.0
 *
 * What narrowgauge-mpi.so exports for training (comm_mpi.c); nothing links it.
 */
#ifndef NG_REFERENCE_TRAIN_COMM_MPI_H
#define NG_REFERENCE_TRAIN_COMM_MPI_H

#include <stdbool.h>

#include "reference/train/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. Memory of the
 * host. Never freed. */
const ng_comm *ng_mpi_comm(void);

/* Its name, for dlsym. */
#define NG_MPI_COMM "ng_mpi_comm"
typedef const ng_comm *ng_mpi_comm_function(void);

#ifdef __cplusplus
}
#endif

#endif
