/**
 * Names that some file system takes for `.git` or `.gitmodules`, though their bytes differ: a repository that held
 * one could overwrite a victim's own `.git` on checkout. After git's `path.c` and `utf8.c` (CVE-2014-9390,
 * CVE-2019-1352, CVE-2019-1353).
 */

const DOT = 0x2e
const SPACE = 0x20
const COLON = 0x3a
const SLASH = 0x2f
const BACKSLASH = 0x5c
const TILDE = 0x7e

const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** Whether HFS+ or NTFS would open `.git` by this name. The name may hold backslashes, which NTFS takes as slashes. */
export function isDotGit(name: Uint8Array): boolean {
  if (isPlain(name)) return false
  if (isHfsName(name, '.git')) return true
  return ntfsParts(name).some((part) => isNtfsName(part, '.git') || isNtfsName(part, 'git~1'))
}

/** The same for `.gitmodules`, which git refuses as a symlink. */
export function isDotGitModules(name: Uint8Array): boolean {
  if (isPlain(name)) return false
  if (isHfsName(name, '.gitmodules')) return true
  return ntfsParts(name).some((part) => isNtfsName(part, '.gitmodules') || isNtfsShortGitModules(part))
}

/** Whether a glance rules all forms out. Nearly all names of a tree end here. */
function isPlain(name: Uint8Array): boolean {
  const first = name[0]!
  return first !== DOT && first < 0x80 && !name.includes(TILDE) && !name.includes(BACKSLASH)
}

/** The name itself, and what follows each backslash in it. */
function ntfsParts(name: Uint8Array): Uint8Array[] {
  const parts = [name]
  for (let at = name.indexOf(BACKSLASH); at !== -1; at = name.indexOf(BACKSLASH, at + 1)) {
    parts.push(name.subarray(at + 1))
  }
  return parts
}

/** NTFS ignores case, trailing dots and spaces, and all from a colon on (the name of a stream). */
function isNtfsName(name: Uint8Array, wanted: string): boolean {
  return startsWithIgnoringCase(name, wanted) && endsForNtfs(name, wanted.length)
}

function endsForNtfs(name: Uint8Array, from: number): boolean {
  for (let at = from; at < name.length; at++) {
    const byte = name[at]!
    if (byte === BACKSLASH || byte === SLASH || byte === COLON) return true
    if (byte !== DOT && byte !== SPACE) return false
  }
  return true
}

/**
 * The 8.3 names that NTFS may give to `.gitmodules`: `gitmod~1` to `gitmod~4`, and from the fifth clash on a hash,
 * `gi7eba~1` to `gi7eba~9`, whose six characters give way to more digits one by one.
 */
function isNtfsShortGitModules(name: Uint8Array): boolean {
  if (startsWithIgnoringCase(name, 'gitmod~')) {
    const digit = name[7]
    return digit !== undefined && digit >= 0x31 && digit <= 0x34 && endsForNtfs(name, 8)
  }
  const fallback = 'gi7eba'
  let sawTilde = false
  for (let i = 0; i < 8; i++) {
    const byte = name[i]
    if (byte === undefined) return false
    if (sawTilde) {
      if (byte < 0x30 || byte > 0x39) return false
    } else if (byte === TILDE) {
      const first = name[++i]
      if (first === undefined || first < 0x31 || first > 0x39) return false
      sawTilde = true
    } else if (i >= 6 || lower(byte) !== fallback.charCodeAt(i)) {
      return false
    }
  }
  return endsForNtfs(name, 8)
}

/** HFS+ ignores case and some invisible characters. Only the case of ASCII letters matters for these names. */
function isHfsName(name: Uint8Array, wanted: string): boolean {
  if (isAscii(name)) return startsWithIgnoringCase(name, wanted) && (name[wanted.length] ?? SLASH) === SLASH
  const text = utf8.decode(name)
  let matched = 0
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (isIgnoredByHfs(code)) continue
    // Bytes that are no UTF-8 end the name, as in git: HFS+ would escape them.
    if (code === 0xfffd || code === SLASH) return matched === wanted.length
    if (matched === wanted.length || code > 0x7f || lower(code) !== wanted.charCodeAt(matched)) return false
    matched++
  }
  return matched === wanted.length
}

function isAscii(name: Uint8Array): boolean {
  for (const byte of name) if (byte >= 0x80) return false
  return true
}

function isIgnoredByHfs(code: number): boolean {
  return (
    (code >= 0x200c && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x206a && code <= 0x206f) ||
    code === 0xfeff
  )
}

function startsWithIgnoringCase(name: Uint8Array, wanted: string): boolean {
  if (name.length < wanted.length) return false
  for (let i = 0; i < wanted.length; i++) if (lower(name[i]!) !== wanted.charCodeAt(i)) return false
  return true
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
}
