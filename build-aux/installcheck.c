/* SPDX-License-Identifier: Apache-2.0
 * A user's program: 464 lies halfway between 448 and E4M3's next slot. */
#include <formats/format.h>
#include <formats/version.h>
#include <reference/convert/ref_encode.h>
#include <stdio.h>

int main(void)
{
    printf("narrowgauge %s\n", ng_version_text());
    return ng_ref_encode(ng_format_find("e4m3"), 464.0f, &ng_default_rules, 0, NULL) != 0x7e;
}
