/** Collections of the storage format; `docs/storage.md` describes it, `lexicons/dev/skein/` holds the schemas. */
export const REPO_COLLECTION = 'dev.skein.repo'
export const PACK_COLLECTION = 'dev.skein.pack'
export const REF_COLLECTION = 'dev.skein.ref'
export const REFS_COLLECTION = 'dev.skein.refs'
/** Whom an account lets act on its repositories: no part of them. */
export const COLLABORATOR_COLLECTION = 'dev.skein.collaborator'

/**
 * Packs up to this many bytes are stored in the record itself; larger ones as blobs. 192 KiB are 256 KiB of base64:
 * three such packs fit into one applyWrites, and an upload (1,000 a day by IP address) is saved.
 */
export const INLINE_PACK_LIMIT = 192 * 1024
