/* SPDX-License-Identifier: Apache-2.0
 *
 * Which build of the code it was: what a version does not tell, since one is
 * rebuilt many times under the same.
 */
#ifndef NG_CONFORMANCE_SUBJECT_BUILD_DIGEST_H
#define NG_CONFORMANCE_SUBJECT_BUILD_DIGEST_H

#include "formats/files/checksum.h"

/* The checksum of the bytes of this program, of the project's libraries that it
 * has loaded and of a plug-in's file (null: there is none), as text. A file that
 * cannot be read counts as one of checksum 0. */
void ng_build_digest(char text[NG_CHECKSUM_TEXT], const char *plugin);

#endif
