import { repositoryPrefix } from './pack-keys.ts'

/** All that R2 has of a repository, page by page. */
export async function* listObjects(
  bucket: R2Bucket,
  did: string,
  rkey: string,
): AsyncGenerator<readonly R2Object[], void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const prefix = repositoryPrefix(did, rkey)
    const page = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) })
    yield page.objects
    if (!page.truncated) return
    cursor = page.cursor
  }
}
