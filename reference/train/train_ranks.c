/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "reference/train/train_parts.h"

/* Everybody's number, to be freed; null, and a status, otherwise. */
static int64_t *gather(ng_status *status, const ng_comm *comm, int64_t number,
                       ng_error *error)
{
    const size_t size = (size_t)comm->size;
    int64_t *from = calloc(2 * size, sizeof *from);

    if (from == NULL) {
        *status = ng_train_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < size; i++)
        from[size + i] = number;
    *status = comm->exchange_counts(comm->context, from, from + size, 1, error);
    if (*status == NG_OK)
        return from;
    free(from);
    return NULL;
}

ng_status ng_train_agree(const ng_comm *comm, ng_status status, ng_error *error)
{
    ng_error other = {{0}};
    ng_status failed;
    int64_t *of;

    if (comm->size == 1)
        return status;
    of = gather(&failed, comm, (int64_t)status, &other);
    if (status != NG_OK) {
        free(of);
        return status;
    }
    if (of == NULL)
        return ng_fail(error, failed, "%s", other.text);
    for (int r = 0; r < comm->size && status == NG_OK; r++)
        if (of[r] != NG_OK)
            status = ng_fail(error, (ng_status)of[r], "rank %d failed: %s", r,
                             ng_status_text((ng_status)of[r]));
    free(of);
    return status;
}

ng_status ng_train_same(bool *same, const ng_comm *comm, int64_t number,
                        ng_error *error)
{
    ng_status status = NG_OK;

    *same = true;
    if (comm->size == 1)
        return NG_OK;

    int64_t *of = gather(&status, comm, number, error);

    for (int r = 0; of != NULL && r < comm->size; r++)
        *same = *same && of[r] == number;
    free(of);
    return status;
}

ng_status ng_train_largest(int64_t *number, const ng_comm *comm,
                           ng_error *error)
{
    ng_status status = NG_OK;

    if (comm->size == 1)
        return NG_OK;

    int64_t *of = gather(&status, comm, *number, error);

    for (int r = 0; of != NULL && r < comm->size; r++)
        *number = of[r] > *number ? of[r] : *number;
    free(of);
    return status;
}
