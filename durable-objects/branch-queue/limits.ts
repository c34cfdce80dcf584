const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE
const MINUTE = 60_000

/** What one commit may hold. Whoever hands it in checks it before; here is where the numbers stand. */
export const COMMIT_LIMITS = {
  changes: 1_000,
  /** Bytes of all its files. */
  contentBytes: 8 * MEBIBYTE,
  /** Bytes of one file. */
  fileBytes: 4 * MEBIBYTE,
  /** Bytes of UTF-8. */
  messageBytes: 64 * KIBIBYTE,
} as const

/** What may wait on one branch. Work that waits lies in SQLite: what bounds it is how long the last of it would wait. */
export const WAITING_LIMITS = { works: 1_000, bytes: 64 * MEBIBYTE } as const

/** What is landed at once. All of it is in memory together with the objects made of it, in a third of an object's 128 MB. */
export const BATCH_LIMITS = { works: 256, bytes: 8 * MEBIBYTE } as const

/** Of one token, or of one account without, on one branch. */
export const SUBMISSIONS = { atOnce: 600, eachMilliseconds: MINUTE / 600 } as const

/** Commits that a rebase makes again: each is a merge of trees. */
export const MOST_REPLAYED = 1_000

/** Commits that the message of a squash tells of. */
export const MOST_SQUASHED = 100

/** What an answer tells of conflicts: it is kept for a day, and goes from object to object. */
export const CONFLICT_LIMITS = {
  /** Paths; how many there are is in the message. */
  paths: 200,
  /** Bytes of the texts with markers; the others are left out. */
  mergedBytes: MEBIBYTE,
} as const

/**
 * What answers with conflicts may take in all, in bytes: an object's SQLite holds 10 GB, and who hands in conflicts all
 * day would fill it. Beyond, the oldest keep their message alone. Answers of less than 16 KiB do not count.
 */
export const KEPT_CONFLICT_BYTES = 64 * MEBIBYTE

/**
 * Of work that has waited for so long, it is asked before it lands whether whoever handed it in still may. What has not
 * was let in a moment ago, and costs no question. Milliseconds.
 */
export const TRUSTED_FOR = 30_000

/** Answers and idempotency keys are kept so long, in milliseconds. */
export const KEPT_FOR = 24 * 60 * MINUTE

/** What is kept in memory so that the next landing reads nothing of what was made before. */
export const KEPT_IN_MEMORY = {
  /** Bytes of objects that have been made or read, by all queues that share an isolate. */
  objectBytes: 16 * MEBIBYTE,
  /** Packs that one queue has landed since it last asked the mirror, and their bytes. */
  packs: 32,
  packBytes: 2 * MEBIBYTE,
} as const

/** The longest that a caller is kept waiting, in milliseconds: connections that are silent for longer are cut. */
export const LONGEST_WAIT = 60_000

/** Pauses after a landing that could not be written: the first is at most so long, each further one twice as long. Milliseconds. */
export const PAUSES = { first: 500, longest: 60_000 } as const
