/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in that does harm, for tests: what exactly, the variable HOSTILE says.
 * Apart from that it decodes E4M3 and UE8M0, and encodes BF16, rightly. The
 * operation that HOSTILE_OPERATION names is there for its harm alone.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "conformance/subject/plugin.h"

/* Harm is done as written in a build with sanitizers too. */
#if defined(__GNUC__)
#define AS_WRITTEN __attribute__((no_sanitize("address", "undefined")))
#else
#define AS_WRITTEN
#endif

static bool does(const char *what)
{
    const char *hostile = getenv("HOSTILE");

    return hostile != NULL && strcmp(hostile, what) == 0;
}

static float decode(bool ue8m0, uint8_t code)
{
    const int field = code >> 3 & 15;
    float magnitude;

    if (ue8m0)
        return code == 0xFF ? NAN : ldexpf(1, code - 127);
    magnitude = field == 0 ? ldexpf((float)(code & 7), -9)
                           : ldexpf((float)(8 | (code & 7)), field - 10);
    return (code & 0x7F) == 0x7F ? NAN
           : (code & 0x80) != 0  ? -magnitude
                                 : magnitude;
}

/* BF16, nearest-even, overflow to infinity; the number in bits. */
static uint16_t encode(uint32_t x)
{
    if ((x & 0x7FFFFFFF) > 0x7F800000)
        return 0x7FFF;
    return (uint16_t)((x + 0x7FFF + (x >> 16 & 1)) >> 16);
}

static void encode_all(const ng_plugin_tensor *x, const ng_plugin_tensor *y)
{
    for (int64_t i = 0; i < x->shape[0]; i++)
        ((uint16_t *)y->data)[i] = encode(((const uint32_t *)x->data)[i]);
}

static void decode_all(const ng_plugin_tensor *x, const ng_plugin_tensor *y,
                       bool ue8m0)
{
    const uint8_t *code = x->data;
    uint32_t *to = y->data;

    for (int64_t i = 0; i < x->shape[0]; i++) {
        const float value = decode(ue8m0, code[i]);

        memcpy(&to[i], &value, sizeof value);
        if (isnan(value))
            to[i] = 0x7FFFFFFF;
    }
}

static void deaf_to_signals(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (;;)
        pause();
}

static jmp_buf gone; /* of a function that has returned */

/* Unmap what is shared with the program. */
static void unmap_shared(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *end;
        const uintptr_t from = strtoul(line, &end, 16);
        const uintptr_t to = strtoul(end + 1, NULL, 16);

        if (strstr(line, "memfd:narrowgauge") != NULL)
            munmap((void *)from, to - from);
    }
}

/* A child in a session of its own, and its children: out of the group. */
static void leave_daemons(void)
{
    if (fork() == 0) {
        setsid();
        for (int i = 0; i < 3; i++)
            if (fork() == 0)
                setsid();
        deaf_to_signals();
    }
}

/* Tell whether something beside the five descriptors was inherited. */
static bool has_more_descriptors(void)
{
    for (int fd = 5; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return true;
    return false;
}

static void ignore(int number)
{
    (void)number;
}

/* A timer that never stops, and no restart of what it interrupts. */
static void interrupt_often(void)
{
    const struct sigaction action = {.sa_handler = ignore};
    const struct itimerval often = {{0, 500}, {0, 500}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* Whether the kernel would end this process before others for want of memory;
 * true where it cannot be asked. */
static bool is_first_to_go(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "r+");
    int score = 1000;

    if (file != NULL && fscanf(file, "%d", &score) == 1)
        fclose(file);
    return score == 1000;
}

/* The harm of a call. Returns a status, or -1: go on. */
AS_WRITTEN static int32_t harm(const ng_plugin_call *call)
{
    const ng_plugin_tensor *x = ng_plugin_input(call, "x");
    const ng_plugin_tensor *y = ng_plugin_output(call, "y");
    static int calls;
    volatile int *null = NULL;

    if (y == NULL) /* HOSTILE_OPERATION's */
        y = call->output[0];
    calls++;
    if (does("crash"))
        *null = 1;
    if (does("crash-once") && calls == 5)
        *null = 1;
    if (does("crash-in-decode-e4m3")
        && strcmp(call->operation, "decode_e4m3") == 0)
        *null = 1;
    if (does("abort")) {
        fputs("it \033[31mwent\033[0m wrong\n", stderr);
        abort();
    }
    if (does("kill"))
        raise(SIGKILL);
    if (does("raise"))
        raise(SIGSEGV);
    if (does("interrupt"))
        interrupt_often();
    if (does("outlive-program") && !is_first_to_go())
        return NG_PLUGIN_FAILED;
    if (does("hang"))
        deaf_to_signals();
    if (does("spin"))
        for (volatile int i = 0;; i++)
            continue;
    if (does("exit"))
        exit(0);
    if (does("before"))
        ((volatile unsigned char *)y->data)[-1] = 0x55;
    if (does("after"))
        ((volatile unsigned char *)y->data)[4 * y->shape[0]] = 0x55;
    if (does("before-input"))
        ((volatile unsigned char *)x->data)[-1] = 0x55;
    if (does("after-input"))
        ((volatile unsigned char *)x->data)[x->shape[0]] = 0x55;
    if (does("far-after"))
        ((volatile unsigned char *)y->data)[4 * y->shape[0] + 40] = 0x55;
    if (does("read-after"))
        ((unsigned char *)y->data)[0] =
            ((volatile unsigned char *)x->data)[x->shape[0]];
    if (does("input"))
        ((unsigned char *)x->data)[0] ^= 1;
    if (does("print"))
        puts("\033]0;title\007<script>|`**");
    if (does("flood"))
        for (int i = 0; i < 2000000; i++)
            puts("flood");
    if (does("close"))
        for (int fd = 3; fd < 64; fd++)
            close(fd);
    if (does("channel"))
        for (int fd = 3; fd < 8; fd++)
            if (write(fd, "junk", 4) == 4)
                break;
    if (does("fork") && fork() == 0)
        deaf_to_signals();
    if (does("daemons") && calls == 1)
        leave_daemons();
    if (does("longjmp"))
        longjmp(gone, 1);
    if (does("munmap"))
        unmap_shared();
    if (does("chdir") && (chdir("/") != 0 || calls == 1))
        *null = 1; /* and the next process finds the library again */
    if (does("close-standard"))
        for (int fd = 0; fd < 3; fd++)
            close(fd);
    if (does("rlimit"))
        for (int i = 0; i < 3; i++)
            setrlimit(
                (const int[]){RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_FSIZE}[i],
                &(struct rlimit){0, 0});
    if (does("exec"))
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    if (does("descriptors") && has_more_descriptors())
        return NG_PLUGIN_FAILED;
    if (does("status"))
        return 12345;
    if (does("refuse"))
        return NG_PLUGIN_REFUSED;
    if (does("lack"))
        return NG_PLUGIN_NOT_COVERED;
    if (does("fail"))
        return NG_PLUGIN_FAILED;
    if (does("unwritten"))
        return NG_PLUGIN_OK;
    return -1;
}

static int32_t run(const ng_plugin_call *call)
{
    const ng_plugin_tensor *y = ng_plugin_output(call, "y");
    const int32_t status = harm(call);
    static uint32_t calls;

    if (status >= 0)
        return status;
    if (y == NULL) /* HOSTILE_OPERATION's */
        return NG_PLUGIN_OK;
    if (strcmp(call->operation, "encode_bf16") == 0)
        encode_all(ng_plugin_input(call, "x"), y);
    else
        decode_all(ng_plugin_input(call, "x"), y,
                   strcmp(call->operation, "decode_ue8m0") == 0);
    if (does("unstable"))
        ((uint32_t *)y->data)[3] += calls++;
    if (does("gap"))
        ((uint32_t *)y->data)[7] = 0xA5A5A5A5;
    return NG_PLUGIN_OK;
}

AS_WRITTEN __attribute__((constructor)) static void at_load(void)
{
    volatile int *null = NULL;

    if (does("crash-at-load"))
        *null = 1;
    if (does("exit-at-load"))
        _exit(7);
    if (does("hang-at-load"))
        deaf_to_signals();
}

static char *huge(void)
{
    char *text = malloc(10000000);

    memset(text, 'A', 9999999);
    text[9999999] = '\0';
    return text;
}

int32_t ng_plugin(ng_plugin_table *table)
{
    static const char *const one[] = {"rounding=nearest-even", "overflow=ieee",
                                      NULL};
    static const char *const typo[] = {"ronding=nearest-even", NULL};
    static ng_plugin_operation operations[] = {
        {.name = "decode_e4m3", .limits = NG_PLUGIN_NO_EMPTY},
        {.name = "decode_ue8m0"},
        {.name = "decode_\033[31me5m2"},
        {.name = "encode_bf16", .takes = one},
        {.name = NULL}};

    const char *memory = getenv("HOSTILE_MEMORY");

    operations[4].name = getenv("HOSTILE_OPERATION");

    *table = (ng_plugin_table){.abi = NG_PLUGIN_ABI,
                               .name = "hostile\033[2J<b>\"`|",
                               .version = "\xff\xfe 1",
                               .n_operations =
                                   operations[4].name != NULL ? 5 : 4,
                               .operation_size = sizeof *operations,
                               .operations = operations,
                               .run = run};
    for (int i = 0; i < 5; i++) /* of a stand-in (cuda_stand_in.c), or some */
        if (memory != NULL && (i == 0 || strcmp(memory, "mixed") != 0))
            operations[i].memory = NG_PLUGIN_CUDA;
    (void)setjmp(gone);
    if (does("crash-in-table"))
        table->name = (const char *)(uintptr_t)1;
    if (does("future"))
        table->abi = NG_PLUGIN_ABI + 1;
    if (does("nameless"))
        table->name = NULL;
    if (does("huge"))
        table->name = huge();
    if (does("huge-operation"))
        operations[1].name = huge();
    if (does("twice"))
        operations[1].name = operations[0].name;
    if (does("many"))
        table->n_operations = 1000000000;
    if (does("no-run"))
        table->run = NULL;
    if (does("typo"))
        operations[0].takes = typo;
    if (does("limits"))
        operations[0].limits = 1u << 31;
    if (does("after-input")) /* no page is missing near its end then */
        operations[0].alignment = 4096;
    if (does("alignment"))
        operations[0].alignment = 3;
    if (does("no-gpu"))
        return NG_PLUGIN_CANNOT_RUN;
    return does("no-start") ? NG_PLUGIN_FAILED : NG_PLUGIN_OK;
}
