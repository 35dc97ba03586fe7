# SPDX-License-Identifier: MIT
# Targets: all (default), demo, check, check-long, check-kernels, check-arm64, soak, unit, fuzz, bench, bench-full,
# asan, install, uninstall, clean. V=1 shows the commands.
# demo, check.., fuzz, soak, asan, bench and bench-full install what is missing (scripts/deps); the others only say so.

VERSION := 0.1.0

CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(shell scripts/deps --bpftool)
PKG_CONFIG ?= pkg-config
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
else
Q :=
say = @:
endif

ARCH := $(shell uname -m)
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(ARCH)))

WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wno-missing-field-initializers
CFLAGS ?= -O2 -g
SAN ?=
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(SAN) -D_GNU_SOURCE -DTICKSNICK_VERSION='"$(VERSION)"' \
	-Iinclude -I$(BUILD) -Iuser -MMD -MP
LIBS = -lbpf -lelf -ldw -ljansson -lz -lm
CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check 2>/dev/null)
BPF_CFLAGS = -g -O2 --target=bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter \
	-D__TARGET_ARCH_$(BPF_ARCH) -Iinclude -Ibpf \
	-idirafter $(SYSROOT)/usr/include/$(ARCH)-linux-gnu -MMD -MP

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:%.bpf.c=$(BUILD)/%.bpf.o)
SKEL := $(BUILD)/ticksnick.skel.h
USER_SRC := $(wildcard user/*.c)
USER_OBJ := $(USER_SRC:%.c=$(BUILD)/%.o)
LIB_OBJ := $(filter-out $(BUILD)/user/main.o,$(USER_OBJ))
LIB := $(BUILD)/libticksnick.a
UNIT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/*.c))
SUBJECT_BIN := $(patsubst tests/kernel/subjects/%.c,$(BUILD)/tests/subjects/%,$(wildcard tests/kernel/subjects/*.c))
PLUGIN_LIB := $(patsubst tests/kernel/subjects/plugins/%.c,$(BUILD)/tests/subjects/%.so,\
	$(wildcard tests/kernel/subjects/plugins/*.c))
KERNEL_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/kernel/*.c))
BENCH_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard bench/*.c))
BENCH := $(BUILD)/ticksnick-bench
PROGRAM_BIN := $(patsubst bench/programs/%.c,$(BUILD)/bench/%,$(wildcard bench/programs/*.c))
# Of the recorder, what reads bytes that others have written, and what shows them.
FUZZ := $(BUILD)/fuzz
FUZZ_LEFT_OUT := main cmd_% session% collect% engine snapshot timer census launch target remains output ids
FUZZ_SAN := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
FUZZ_SRC := $(filter-out $(FUZZ_LEFT_OUT:%=user/%.c),$(USER_SRC)) \
	$(filter-out tests/fuzz/fuzz_%,$(wildcard tests/fuzz/*.c))
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(FUZZ)/%.o)
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(FUZZ)/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 3600
COMMANDS := record report merge diff doctor
MAN := $(wildcard docs/*.1)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all deps demo check check-long check-kernels check-arm64 soak fuzz test-programs kernel-programs bench \
	bench-diff bench-full install uninstall clean asan unit programs
all: $(BUILD)/ticksnick $(BENCH) programs
	@:

# What looks for dependencies runs before the make that uses them, which reads pkg-config, paths and wildcards afresh.
DEPS = CC='$(CC)' CLANG='$(CLANG)' PKG_CONFIG='$(PKG_CONFIG)' scripts/deps
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	@$(DEPS) build

# A plain build installs nothing: where something is missing it says what, once, instead of failing in the compiler.
$(BUILD)/.deps: scripts/deps
	@mkdir -p $(@D)
	@$(DEPS) --check build || { echo 'make: "make deps" installs it (as root)' >&2; exit 1; }
	@touch $@

DEMO = $(BUILD)/ticksnick record -d 5 -- $(BUILD)/bench/demo
demo:
	@$(DEPS) build
	@$(SUBMAKE) $(BUILD)/ticksnick $(BUILD)/bench/demo
	@if [ "$$(id -u)" -eq 0 ]; then echo '$(DEMO)'; exec $(DEMO); \
	elif command -v sudo >/dev/null; then echo 'sudo $(DEMO)'; exec sudo $(DEMO); \
	else echo 'demo: recording needs root; as root run: $(DEMO)' >&2; exit 4; fi

check:
	@$(DEPS) build test
	@$(SUBMAKE) test-programs
	@CC='$(CC)' tests/run.sh $(BUILD)

# The tests that load BPF, with more and longer of what they do.
check-long:
	@$(DEPS) build test
	@$(SUBMAKE) test-programs
	@TICKSNICK_TEST_LONG=1 tests/run.sh $(BUILD) kernel

# An hour of 20,000 switches a second; two minutes of it are in check-long.
SOAK_SECONDS ?= 3600
soak:
	@$(DEPS) build test
	@$(SUBMAKE) test-programs
	@CK_RUN_SUITE=soak TICKSNICK_SOAK_SECONDS=$(SOAK_SECONDS) tests/run.sh $(BUILD) kernel

# The same in other kernels, under emulation; and what another release of clang makes of the programs, in all of them.
CLANG2 = clang-16
CLANG2_BUILD = build-$(CLANG2)
check-kernels:
	@$(DEPS) build test kernels
	@$(SUBMAKE) kernel-programs
	@scripts/kernels $(BUILD)
	@$(SUBMAKE) BUILD=$(CLANG2_BUILD) CLANG=$(CLANG2) kernel-programs
	@CK_RUN_SUITE=load $(CLANG2_BUILD)/tests/run-kernel
	@CK_RUN_SUITE=load scripts/kernels $(CLANG2_BUILD)

# The same for arm64, built here from Debian's packages of that architecture.
ARM_BUILD = build-arm64
ARM_ROOT = $(ARM_BUILD)/sysroot/root
check-arm64:
	@$(DEPS) build test kernels arm64
	@scripts/sysroot arm64 $(ARM_BUILD)/sysroot
	@touch $(ARM_BUILD)/.deps # of that architecture, all is in there
	@$(SUBMAKE) BUILD=$(ARM_BUILD) ARCH=aarch64 SYSROOT=$(ARM_ROOT) AR=aarch64-linux-gnu-ar \
		CC='aarch64-linux-gnu-gcc --sysroot=$(ARM_ROOT)' CHECK_LIBS='-lcheck_pic -lsubunit -lrt -lpthread' \
		kernel-programs
	@KERNELS_ARCH=arm64 scripts/kernels $(ARM_BUILD) 6.1

# Tests of what runs in user space, with the sanitizers; built apart.
ASAN_BUILD = build-asan
asan:
	@$(DEPS) build test
	@$(SUBMAKE) BUILD=$(ASAN_BUILD) \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
		all kernel-programs $(ASAN_BUILD)/tests/run-unit
	@CC='$(CC)' LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 \
		tests/run.sh $(ASAN_BUILD) unit cli

# Looks for inputs that break what reads other people's bytes; make check does so for less than a minute.
fuzz:
	@$(DEPS) build test
	@$(SUBMAKE) $(FUZZ_BIN)
	@bash tests/fuzz/run.sh $(BUILD) $(FUZZ_SECONDS)

# Comparisons of real recordings: half an hour on a machine without other work.
bench-diff:
	@$(DEPS) build bench
	@$(SUBMAKE) all
	@$(BENCH) diff $(BENCH_OPTIONS)

# Every mode of ticksnick-bench in one table: in four minutes, and as long as it takes to say more.
bench: BENCH_OPTIONS = --brief
bench bench-full:
	@$(DEPS) build bench
	@$(SUBMAKE) all
	@$(BENCH) all $(BENCH_OPTIONS)

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | $(BUILD)/.deps
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(BUILD)/ticksnick.bpf.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(BUILD)/ticksnick.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name ticksnick_bpf > $@

$(BUILD)/user/%.o: user/%.c | $(SKEL) $(BUILD)/.deps
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/tests/%.o: tests/%.c | $(SKEL)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/ticksnick: $(BUILD)/user/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -o $@ $^ $(LIBS)
	$(Q)for c in $(COMMANDS); do ln -sf ticksnick $(BUILD)/ticksnick-$$c; done

# Programs with a known truth: they include the public header alone, like any application.
$(BUILD)/bench/%: bench/programs/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -Iinclude -MMD -MP -MF $@.d -o $@ $< -lpthread -lm

$(BUILD)/tests/subjects/%: tests/kernel/subjects/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -Iinclude -MMD -MP -MF $@.d -o $@ $< -lpthread

$(BUILD)/tests/subjects/%.so: tests/kernel/subjects/plugins/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -D_GNU_SOURCE -Iinclude -MMD -MP -MF $@.d -o $@ $< -lpthread

programs: $(PROGRAM_BIN)

$(BUILD)/bench/%.o: bench/%.c | $(BUILD)/.deps
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BENCH): $(BENCH_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -o $@ $^ $(LIBS) -lpthread

$(BUILD)/tests/run-unit: $(UNIT_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -o $@ $^ $(LIBS) $(CHECK_LIBS)

$(BUILD)/tests/run-kernel: $(KERNEL_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) -o $@ $^ $(LIBS) $(CHECK_LIBS)

$(FUZZ)/%.o: %.c | $(SKEL)
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(ALL_CFLAGS) -O1 $(FUZZ_SAN) -fsanitize=fuzzer-no-link -c $< -o $@

$(FUZZ)/fuzz_%: $(FUZZ)/tests/fuzz/fuzz_%.o $(FUZZ_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(FUZZ_SAN) -fsanitize=fuzzer -o $@ $^ -ljansson -lm

# The objects of the targets, too, are to be kept.
.SECONDARY:

test-programs: all $(FUZZ_BIN) $(BUILD)/tests/run-unit kernel-programs
	@:

kernel-programs: $(BUILD)/ticksnick $(BUILD)/tests/run-kernel $(SUBJECT_BIN) $(PLUGIN_LIB)
	@:

unit: $(BUILD)/tests/run-unit
	$<

# cells.h is between the kernel side and user space alone; the other headers are what an application includes.
INSTALL ?= install
BIN_DIR = $(DESTDIR)$(PREFIX)/bin
INCLUDE_DIR = $(DESTDIR)$(PREFIX)/include/ticksnick
PC_DIR = $(DESTDIR)$(PREFIX)/share/pkgconfig
MAN_DIR = $(DESTDIR)$(PREFIX)/share/man/man1
DOC_DIR = $(DESTDIR)$(PREFIX)/share/doc/ticksnick
# In the same tree as here, so that links in them hold.
DOCUMENTS = README.md $(wildcard docs/*.md docs/*.json docs/*.1 docs/examples/*)
DOCUMENT_SCRIPTS = scripts/compare
DOCUMENT_DIRS = $(sort $(dir $(DOCUMENTS) $(DOCUMENT_SCRIPTS)))
PUBLIC_HEADERS = $(filter-out cells.h,$(notdir $(wildcard include/ticksnick/*.h)))

install: $(BUILD)/ticksnick
	$(Q)$(INSTALL) -d $(BIN_DIR) $(INCLUDE_DIR) $(PC_DIR) $(MAN_DIR) $(DOCUMENT_DIRS:%=$(DOC_DIR)/%)
	$(Q)$(INSTALL) -m 755 $(BUILD)/ticksnick $(BIN_DIR)/
	$(Q)for c in $(COMMANDS); do ln -sf ticksnick $(BIN_DIR)/ticksnick-$$c; done
	$(Q)$(INSTALL) -m 644 $(PUBLIC_HEADERS:%=include/ticksnick/%) $(INCLUDE_DIR)/
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' docs/ticksnick.pc.in > $(PC_DIR)/ticksnick.pc
	$(Q)chmod 644 $(PC_DIR)/ticksnick.pc
	$(Q)$(INSTALL) -m 644 $(MAN) $(MAN_DIR)/
	$(Q)for d in $(DOCUMENTS); do $(INSTALL) -m 644 $$d $(DOC_DIR)/$$d || exit; done
	$(Q)for d in $(DOCUMENT_SCRIPTS); do $(INSTALL) -m 755 $$d $(DOC_DIR)/$$d || exit; done

uninstall:
	$(Q)rm -f $(BIN_DIR)/ticksnick $(COMMANDS:%=$(BIN_DIR)/ticksnick-%) $(PC_DIR)/ticksnick.pc
	$(Q)rm -f $(PUBLIC_HEADERS:%=$(INCLUDE_DIR)/%) $(patsubst docs/%,$(MAN_DIR)/%,$(MAN))
	$(Q)rm -f $(addprefix $(DOC_DIR)/,$(DOCUMENTS) $(DOCUMENT_SCRIPTS))
	$(Q)rmdir $(INCLUDE_DIR) 2>/dev/null || true
	$(Q)find $(DOC_DIR) -depth -type d -empty -delete 2>/dev/null || true

clean:
	$(Q)rm -rf $(BUILD) $(ASAN_BUILD) $(CLANG2_BUILD) $(ARM_BUILD)

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(FUZZ)/*/*/*.d)
