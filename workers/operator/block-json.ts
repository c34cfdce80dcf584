import { type Block, subjectText } from '../../storage/operator/blocks.ts'

/** `dev.skein.operator.defs#block` */
export function blockJson({ reason, createdAt, ...subject }: Block) {
  return { subject: subjectText(subject), reason, createdAt: new Date(createdAt).toISOString() }
}
