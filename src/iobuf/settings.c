// Settings, from the environment.
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { most_rules = 64, text_bytes = 4096 };

unsigned iobuf_delay_ms = 200;

struct rule {
  const char* pattern;
  struct iobuf_settings with;
};
static struct iobuf_settings usual = {(size_t)1 << 20, 20, (size_t)32 << 10, 4, 2, 2};
static struct rule rules[most_rules];
static unsigned rule_count;
static char patterns[text_bytes], rules_text[text_bytes];  // copies: a program can change its environment
static int needs_whole_path;

/// Leaves the value alone if the text is no number from least to most.
static void read_number(const char* text, uint64_t least, uint64_t most, uint64_t* value) {
  char* end;
  const unsigned long long found = text == NULL || *text == '\0' ? 0 : strtoull(text, &end, 10);
  if (text == NULL || *text == '\0' || *end != '\0' || found < least || found > most) return;
  *value = found;
}

static void set(struct iobuf_settings* with, const char* name, const char* text) {
  uint64_t bytes = with->bytes, large = with->large, buffers = with->buffers, ahead = with->ahead,
           behind = with->behind;
  if (strcasecmp(name, "size") == 0) read_number(text, iobuf_least_bytes, (uint64_t)1 << 30, &bytes);
  if (strcasecmp(name, "large") == 0) read_number(text, 1, (uint64_t)1 << 30, &large);
  if (strcasecmp(name, "buffers") == 0) read_number(text, 1, iobuf_most_buffers, &buffers);
  if (strcasecmp(name, "read_ahead") == 0) read_number(text, 0, iobuf_most_buffers, &ahead);
  if (strcasecmp(name, "write_behind") == 0) read_number(text, 0, iobuf_most_buffers, &behind);
  with->shift = 63 - (unsigned)__builtin_clzll(bytes);
  if ((size_t)1 << with->shift < bytes) ++with->shift;
  with->bytes = (size_t)1 << with->shift;
  with->large = (size_t)large;
  with->buffers = (unsigned)buffers, with->ahead = (unsigned)ahead, with->behind = (unsigned)behind;
}

static void copy(char* to, const char* name) {
  const char* text = getenv(name);
  if (text != NULL && strlen(text) < text_bytes) strcpy(to, text);
}

/// PATTERN:name=number,name=number;…
static void read_rules(void) {
  copy(rules_text, "CULMEN_IOBUF_RULES");
  char *next, *inner;
  for (char* each = strtok_r(rules_text, ";", &next); each != NULL; each = strtok_r(NULL, ";", &next)) {
    char* const colon = strrchr(each, ':');
    if (rule_count == most_rules) return;
    struct rule* const rule = &rules[rule_count++];
    *rule = (struct rule){each, usual};
    if (strchr(each, '/') != NULL) needs_whole_path = 1;
    if (colon == NULL) continue;
    *colon = '\0';
    for (char* word = strtok_r(colon + 1, ",", &inner); word != NULL; word = strtok_r(NULL, ",", &inner)) {
      char* const equals = strchr(word, '=');
      if (equals == NULL) continue;
      *equals = '\0';
      set(&rule->with, word, equals + 1);
    }
  }
}

void iobuf_read_settings(void) {
  static const char* const names[] = {"size", "large", "buffers", "read_ahead", "write_behind"};
  static const char* const variables[] = {"CULMEN_IOBUF_SIZE", "CULMEN_IOBUF_LARGE", "CULMEN_IOBUF_BUFFERS",
                                          "CULMEN_IOBUF_READ_AHEAD", "CULMEN_IOBUF_WRITE_BEHIND"};
  for (unsigned k = 0; k < 5; ++k) set(&usual, names[k], getenv(variables[k]));
  uint64_t memory = iobuf_memory, delay_ms = iobuf_delay_ms;
  read_number(getenv("CULMEN_IOBUF_MEMORY"), iobuf_least_bytes, UINT64_MAX / 2, &memory);
  read_number(getenv("CULMEN_IOBUF_DELAY_MS"), 1, 3600000, &delay_ms);
  iobuf_memory = memory, iobuf_delay_ms = (unsigned)delay_ms;
  copy(patterns, "CULMEN_IOBUF_FILES");
  if (strchr(patterns, '/') != NULL) needs_whole_path = 1;
  read_rules();
}

/// A pattern without a slash is for the file's own name.
static int fits(const char* pattern, const char* path, const char* name) {
  return fnmatch(pattern, strchr(pattern, '/') != NULL ? path : name, 0) == 0;
}

static int is_wanted(const char* path, const char* name) {
  if (patterns[0] == '\0') return 1;
  char one[text_bytes];
  for (const char* at = patterns; *at != '\0';) {
    const size_t length = strcspn(at, ",");
    memcpy(one, at, length);
    one[length] = '\0';
    if (fits(one, path, name)) return 1;
    at += length + (at[length] == ',');
  }
  return 0;
}

const struct iobuf_settings* iobuf_settings_of(int fd, const char* path) {
  if (patterns[0] == '\0' && rule_count == 0) return &usual;
  char link[64], whole[text_bytes];
  if (needs_whole_path || path == NULL) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, whole, sizeof whole - 1);
    whole[n > 0 ? n : 0] = '\0';
    path = whole;
  }
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  for (unsigned k = 0; k < rule_count; ++k) {
    if (fits(rules[k].pattern, path, name)) return &rules[k].with;
  }
  return is_wanted(path, name) ? &usual : NULL;
}
