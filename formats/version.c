/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/version.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "commit.h"             /* generated: NG_COMMIT, "" where unknown */

const char *ng_version_number(void)
{
    return PACKAGE_VERSION;
}

const char *ng_version_text(void)
{
    return sizeof NG_COMMIT > 1 ? PACKAGE_VERSION " (commit " NG_COMMIT ")"
                                : PACKAGE_VERSION;
}
