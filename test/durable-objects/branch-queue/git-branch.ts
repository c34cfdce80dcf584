import type { BranchWork, CommitWork, MergeStrategy, MergeWork } from '../../../durable-objects/branch-queue/answers.ts'
import { applyWork, type WorkResult } from '../../../durable-objects/branch-queue/apply-work.ts'
import { type BranchPlace, Ground, readTip } from '../../../durable-objects/branch-queue/ground.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import type { TreeEdit } from '../../../git/edit/tree-edit.ts'
import { buildPack } from '../../../git/pack/build-pack.ts'
import { ScratchRepository } from '../../git/git.ts'
import { LogGraph } from '../../git/log-graph.ts'
import { GitObjectSource } from '../../git/object-process.ts'
import { utf8 } from '../../git/pack/pack-builder.ts'

export const AGENT = { name: 'Agent', email: 'agent@example.com' }
/** When work is handed in, in seconds: later than the commits that git makes here. */
export const TIME = 1_800_000_000

/** A repository of the real git, as a branch of which work is applied. */
export class GitBranch {
  readonly repository = new ScratchRepository()

  /** Commits these files, on what is checked out, as git itself does. Null deletes. */
  commit(files: Record<string, string | null>, message = 'change', env: Record<string, string> = {}): Oid {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) this.git('rm', '-q', path)
      else {
        const oid = this.repository.store('blob', content)
        this.git('update-index', '--add', '--cacheinfo', `100644,${oid},${path}`)
      }
    }
    this.repository.git(['commit', '-q', '--allow-empty', '-m', message], '', env)
    this.git('checkout', '-q', '-f', '--', '.')
    return this.git('rev-parse', 'HEAD')
  }

  git(...args: readonly string[]): string {
    return this.repository.text(args)
  }

  /** The content of a file. */
  read(revision: string, path: string): string {
    return this.repository.text(['cat-file', 'blob', `${revision}:${path}`])
  }

  /** Applies work one after the other on a branch, puts what was made into the repository, and moves the branch. */
  async apply(works: readonly BranchWork[], options: Partial<BranchPlace> = {}): Promise<WorkResult[]> {
    await using objects = new GitObjectSource(this.repository.path)
    const ref = options.ref ?? 'refs/heads/main'
    const at = this.git('for-each-ref', '--format=%(objectname)', ref)
    const tip = at === '' ? null : await readTip(objects, at)
    const ground = new Ground(
      { ref, tip, unreadable: null, mayBegin: false, inTheWay: null, ...options },
      {
        objects,
        graph: async () => new LogGraph(this.repository),
      },
    )
    const results: WorkResult[] = []
    for (const work of works) {
      const result = await applyWork(ground, work, TIME)
      if (result.ok) ground.moveOn(result.applied)
      results.push(result)
    }
    const { bytes } = await buildPack([...ground.objects.objects()], null)
    this.repository.git(['index-pack', '--stdin', '--strict'], bytes)
    if (ground.place.tip !== null) this.git('update-ref', ref, ground.place.tip.commit)
    this.git('fsck', '--strict', '--no-dangling')
    return results
  }

  [Symbol.dispose](): void {
    this.repository[Symbol.dispose]()
  }
}

export function write(path: string, content: string): TreeEdit {
  return { kind: 'write', path: utf8(path), content: utf8(content) }
}

export function commitWork(edits: readonly TreeEdit[], parts: Partial<CommitWork> = {}): CommitWork {
  return { kind: 'commit', message: 'm', author: AGENT, edits, base: null, expect: [], ...parts }
}

export function mergeWork(source: Oid, strategy: MergeStrategy, parts: Partial<MergeWork> = {}): MergeWork {
  return {
    kind: 'merge',
    source,
    strategy,
    message: null,
    sourceName: 'topic',
    author: AGENT,
    expectedTip: null,
    ...parts,
  }
}
