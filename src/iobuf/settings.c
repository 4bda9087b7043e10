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
// Copies: a program can change its environment.
static char patterns[text_bytes], rules_text[text_bytes], exceptions[text_bytes];
static int needs_whole_path;

static void set(struct iobuf_settings* with, unsigned k, uint64_t value) {
  switch (k) {
    case iobuf_number_size:
      with->shift = 63 - (unsigned)__builtin_clzll(value);
      if ((uint64_t)1 << with->shift < value) ++with->shift;
      with->bytes = (size_t)1 << with->shift;
      return;
    case iobuf_number_large:
      with->large = (size_t)value;
      return;
    case iobuf_number_buffers:
      with->buffers = (unsigned)value;
      return;
    case iobuf_number_read_ahead:
      with->ahead = (unsigned)value;
      return;
    case iobuf_number_write_behind:
      with->behind = (unsigned)value;
      return;
    case iobuf_number_memory:
      iobuf_memory = value;
      return;
    case iobuf_number_delay_ms:
      iobuf_delay_ms = (unsigned)value;
      return;
  }
}

/// A wrong value is taken out of the environment: processes that this one starts do not say it again.
static void read_number(unsigned k) {
  const struct iobuf_limits* const limits = &iobuf_limits[k];
  char* const text = getenv(limits->variable);
  uint64_t value;
  if (text == NULL || *text == '\0') return;
  if (iobuf_read_number(limits, text, &value)) {
    set(&usual, k, value);
    return;
  }
  iobuf_complain("culmen: %s must be %s, got '%.80s'; the default is used.\n", limits->variable, limits->allowed, text);
  *text = '\0';
}

static const char no_file[] = "//";  // a pattern that no file fits

/// Processes that this one starts get it, too.
static void buffer_nothing(char* text) {
  strcpy(patterns, no_file);
  strcpy(text, no_file);
}

static void copy(char* to, const char* name) {
  char* const text = getenv(name);
  if (text == NULL) return;
  if (strlen(text) < text_bytes) {
    strcpy(to, text);
    if (strcmp(text, no_file) == 0) buffer_nothing(text);
    return;
  }
  iobuf_complain("culmen: %s is longer than %d bytes; nothing is buffered.\n", name, text_bytes - 1);
  buffer_nothing(text);
}

/// 0: it is wrong.
static int read_setting(struct iobuf_settings* with, const char* word, const char* pattern) {
  const size_t length = strcspn(word, "=");
  for (unsigned k = 0; k < iobuf_numbers_of_rules; ++k) {
    const struct iobuf_limits* const limits = &iobuf_limits[k];
    uint64_t value;
    if (strlen(limits->name) != length || strncasecmp(limits->name, word, length) != 0 || word[length] == '\0')
      continue;
    if (iobuf_read_number(limits, word + length + 1, &value)) {
      set(with, k, value);
      return 1;
    }
    iobuf_complain("culmen: CULMEN_IOBUF_RULES: %s of '%.80s' must be %s, got '%.80s'; it is ignored.\n", limits->name,
                   pattern, limits->allowed, word + length + 1);
    return 0;
  }
  iobuf_complain(
      "culmen: CULMEN_IOBUF_RULES: '%.80s' of '%.80s' must be NAME=VALUE with size, large, buffers, read_ahead "
      "or write_behind; it is ignored.\n",
      word, pattern);
  return 0;
}

/// original: the same text in the environment.
static void read_rule(char* text, char* original) {
  struct rule* const rule = &rules[rule_count++];
  *rule = (struct rule){text, usual};
  char *const colon = strrchr(text, ':'), *next;
  if (strchr(text, '/') != NULL) needs_whole_path = 1;
  if (colon == NULL) return;
  *colon = '\0';
  for (char* word = strtok_r(colon + 1, ",", &next); word != NULL; word = strtok_r(NULL, ",", &next)) {
    if (!read_setting(&rule->with, word, text)) memset(original + (word - text), ',', strlen(word));
  }
}

/// PATTERN:name=number,name=number;…
static void read_rules(void) {
  static const char variable[] = "CULMEN_IOBUF_RULES";
  copy(rules_text, variable);
  char *const original = getenv(variable), *next;
  for (char* each = strtok_r(rules_text, ";", &next); each != NULL; each = strtok_r(NULL, ";", &next)) {
    if (rule_count == most_rules) {
      iobuf_complain("culmen: %s has more than %d rules; nothing is buffered.\n", variable, most_rules);
      buffer_nothing(original);
      return;
    }
    read_rule(each, original + (each - rules_text));
  }
}

void iobuf_read_settings(void) {
  for (unsigned k = 0; k < iobuf_numbers; ++k) read_number(k);
  copy(patterns, "CULMEN_IOBUF_FILES");
  read_rules();
  copy(exceptions, "CULMEN_IOBUF_EXCEPT");
  if (strcmp(patterns, no_file) == 0) rule_count = 0;
  if (strchr(patterns, '/') != NULL) needs_whole_path = 1;
}

/// A pattern without a slash is for the file's own name.
static int fits(const char* pattern, const char* path, const char* name) {
  return fnmatch(pattern, strchr(pattern, '/') != NULL ? path : name, 0) == 0;
}

/// list: with commas between the patterns.
static int fits_one_of(const char* list, const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  char one[text_bytes];
  for (const char* at = list; *at != '\0';) {
    const size_t length = strcspn(at, ",");
    memcpy(one, at, length);
    one[length] = '\0';
    if (fits(one, path, name)) return 1;
    at += length + (at[length] == ',');
  }
  return 0;
}

static void read_whole_path(int fd, char* whole) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, whole, text_bytes - 1);
  whole[n > 0 ? n : 0] = '\0';
}

const struct iobuf_settings* iobuf_settings_of(int fd, const char* path) {
  if (patterns[0] == '\0' && rule_count == 0 && exceptions[0] == '\0') return &usual;
  char whole[text_bytes];
  whole[0] = '\0';
  if (needs_whole_path || path == NULL || exceptions[0] != '\0') read_whole_path(fd, whole);
  // The program may open the file by the name of a symbolic link.
  if (path != NULL && fits_one_of(exceptions, path)) return NULL;
  if (fits_one_of(exceptions, whole)) return NULL;
  if (needs_whole_path || path == NULL) path = whole;
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  for (unsigned k = 0; k < rule_count; ++k) {
    if (fits(rules[k].pattern, path, name)) return &rules[k].with;
  }
  return patterns[0] == '\0' || fits_one_of(patterns, path) ? &usual : NULL;
}
