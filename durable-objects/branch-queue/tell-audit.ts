import type { AuditedLanding } from '../../storage/access/landing-audit.ts'
import type { BranchAddress } from './answers.ts'
import type { AuditEntry, QueueStore } from './queue-store.ts'

export interface AuditDeps {
  readonly store: QueueStore
  /** Writes down who landed what. What it was told before it leaves as it is. @throws if it cannot now */
  record(rows: readonly AuditedLanding[]): Promise<void>
}

/** Entries that are told at once. */
const TOLD_AT_ONCE = 100

/** Tells the audit what it has not been told yet. @throws what the audit throws; what is left is told next time */
export async function tellAudit({ store, record }: AuditDeps): Promise<void> {
  const address = store.address()
  if (address === null) return
  for (let next = store.nextAudit(TOLD_AT_ONCE); next.length > 0; next = store.nextAudit(TOLD_AT_ONCE)) {
    await record(next.map(({ entry }) => auditedOf(address, entry)))
    store.dropAudit(next.at(-1)!.seq)
  }
}

function auditedOf({ did, rkey, ref }: BranchAddress, { submitter, ...entry }: AuditEntry): AuditedLanding {
  return { ...entry, did, rkey, ref, submitter: submitter.did, token: submitter.tokenId, label: submitter.tokenLabel }
}
