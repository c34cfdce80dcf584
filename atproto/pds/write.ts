/** One operation of an applyWrites. `value` is JSON as it goes out: bytes as `$bytes`, blobs as they were returned. */
export type Write =
  | {
      readonly action: 'create' | 'update'
      readonly collection: string
      readonly rkey: string
      readonly value: Record<string, unknown>
    }
  | { readonly action: 'delete'; readonly collection: string; readonly rkey: string }

/** As `com.atproto.repo.applyWrites` spells it. */
export function typedWrite(write: Write) {
  const { collection, rkey } = write
  switch (write.action) {
    case 'create':
      return { $type: 'com.atproto.repo.applyWrites#create' as const, collection, rkey, value: write.value }
    case 'update':
      return { $type: 'com.atproto.repo.applyWrites#update' as const, collection, rkey, value: write.value }
    case 'delete':
      return { $type: 'com.atproto.repo.applyWrites#delete' as const, collection, rkey }
  }
}
