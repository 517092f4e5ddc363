/* What works here; the greeting says it. */
#include "features.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "confine.h"
#include "entry.h"
#include "frame.h"
#include "handle.h"
#include "listener.h"
#include "place.h"
#include "root.h"
#include "sha256.h"
#include "shim.h"
#include "source.h"
#include "tracer.h"
#include "usage.h"

#define FEATURES_MOST 16

static const char *features[FEATURES_MOST];
static uint32_t feature_count;

static void have(bool works, const char *name) {
    if (works && feature_count < FEATURES_MOST) features[feature_count++] = name;
}

bool means_take(struct means *means, const char *option) {
    if (strcmp(option, "--plain") == 0) return means->plain = true;
    if (strcmp(option, "--before-6.15") == 0) return means->older = true;
    if (strcmp(option, "--ptrace") == 0) return means->most = SEE_PROGRAMS;
    if (strcmp(option, "--top-level") == 0) return means->most = SEE_COMMANDS;
    return false;
}

void features_prepare(const struct means *means) {
    struct entry root;
    bool plain = means->plain;
    entry_prepare(plain);
    sha256_prepare(plain);
    shim_prepare(plain);
    usage_prepare();
    conduct_prepare(plain, means->older, means->most);
    have(place_prepare(plain), "openat2");
    have(entry_read(AT_FDCWD, "/", &root) == 0 && root.mount, "mount_id");
    have(!plain && syscall(SYS_close_range, ~0U, ~0U, 0U) == 0, "close_range");
    have(usage_groups() == GROUPS_1, "cgroup1");
    have(usage_groups() == GROUPS_2, "cgroup2");
    have(user_is_root() && prctl(PR_CAPBSET_READ, 7 /* CAP_SETUID */) == 1, "users");
    have(getpid() == 1, "init");
    have(sources_descriptor() >= 0 && listener_works(), "exec_log");
    have(sources_descriptor() >= 0 && listener_holds(), "exec_hold");
    have(sources_descriptor() >= 0 && tracer_works(), "exec_trace");
    have(handle_tells_status(), "exec_status");
    have(confine_works(), "confined");
    have(root_works(), "root");
}

void features_greet(void) {
    struct utsname system;
    memset(&system, 0, sizeof system);
    uname(&system);
    struct writer writer = writer_begin();
    put_u32(&writer, PROTOCOL_VERSION);
    put_text(&writer, system.machine);
    put_text(&writer, system.release);
    put_u32(&writer, feature_count);
    for (uint32_t i = 0; i < feature_count; i++) put_text(&writer, features[i]);
    writer_send(&writer, REPLY_GREETING, 0);
}
