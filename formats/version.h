/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_FORMATS_VERSION_H
#define NG_FORMATS_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0", and "0.1.0 (commit 1a2b3c4)" where the build knew the commit. */
const char *ng_version_number(void);
const char *ng_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
