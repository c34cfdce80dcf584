import { ScratchRepository } from './git.ts'
import { Random } from './random.ts'

const decoder = new TextDecoder('latin1')

export interface GeneratedOptions {
  readonly seed: number
  readonly commits: number
}

/**
 * A repository of the real git with a random history: branches and merges (octopus merges too), several roots,
 * renames, deletions, whole directories that come back, symlinks, submodules, executable files, an empty tree, tags of
 * commits, tags, trees and blobs, and commits of odd forms.
 */
export function generateRepository({ seed, commits }: GeneratedOptions): ScratchRepository {
  const repository = new ScratchRepository({ bare: true })
  const random = new Random(seed)
  repository.git(['fast-import', '--quiet', '--force', '--date-format=raw-permissive'], history(random, commits))
  addTags(repository, random)
  addOddObjects(repository)
  return repository
}

function history(random: Random, commits: number): Buffer {
  const parts: string[] = []
  const files: string[] = []
  for (let i = 1; i <= commits; i++) {
    // Each commit has a ref of its own, so that all are reachable and any may be asked for.
    const branch = i === commits ? 'refs/heads/main' : `refs/heads/c${i}`
    const message = `commit ${i}\n\n${decoder.decode(random.text(random.below(200)))}`
    parts.push(`commit ${branch}\nmark :${i}\n`)
    parts.push(`author A <a@b> ${1000000000 + i * 100} +0100\n`)
    // Clocks go wrong now and then.
    parts.push(
      `committer C <c@d> ${1000000000 + i * 100 - (random.chance(0.1) ? 5000000 : 0)} ${random.pick(['+0000', '-0930', '+051800'])}\n`,
    )
    parts.push(`data ${message.length}\n${message}\n`)
    parts.push(parentsOf(random, i))
    for (let change = 0; change < 1 + random.below(4); change++) parts.push(changeFile(random, files, i))
    if (random.chance(0.03)) parts.push('deleteall\n')
    parts.push('\n')
  }
  parts.push('done\n')
  return Buffer.from(parts.join(''), 'latin1')
}

function parentsOf(random: Random, commit: number): string {
  const parents = new Set<number>()
  const wanted = random.chance(0.04) ? 0 : random.chance(0.2) ? 2 : random.chance(0.04) ? 5 : 1
  for (let i = 0; i < wanted && commit > 1; i++) {
    parents.add(random.chance(0.7) ? Math.max(1, commit - 1 - random.below(4)) : 1 + random.below(commit - 1))
  }
  const [first, ...others] = parents
  if (first === undefined) return 'from 0000000000000000000000000000000000000000\n'
  return `from :${first}\n${others.map((parent) => `merge :${parent}\n`).join('')}`
}

function changeFile(random: Random, files: string[], commit: number): string {
  const known = files.length > 0 && random.chance(0.6)
  const path = known ? random.pick(files) : newPath(random, commit)
  if (!known) files.push(path)
  const kind = random.next()
  if (kind < 0.06) return `M 160000 ${'ab'.repeat(20)} ${path}-module\n`
  if (kind < 0.12) return `M 120000 inline ${path}-link\n${data('../target')}`
  if (kind < 0.2 && known) return `D ${path.split('/')[0]}\n`
  // Mostly the path's own text with a change in it, as files have it from one commit to the next.
  const own = decoder.decode(new Random(path.length * 31 + path.charCodeAt(path.length - 1)).text(2000))
  const cut = random.below(own.length)
  const changed = own.slice(0, cut) + decoder.decode(random.text(random.below(60))) + own.slice(cut + random.below(60))
  const content = random.chance(0.8) ? `${changed}${commit}` : decoder.decode(random.text(random.below(3000)))
  return `M ${random.chance(0.1) ? '100755' : '100644'} inline ${path}\n${data(content)}`
}

function data(content: string): string {
  return `data ${content.length}\n${content}\n`
}

function newPath(random: Random, commit: number): string {
  const directories = ['a', 'b', 'lib', 'lib/deep', 'lib/deep/er', 'docs', '']
  const directory = random.pick(directories)
  const name = `f${random.below(commit + 5)}${random.pick(['', '.js', '.a', '-x', 'é'])}`
  return directory === '' ? name : `${directory}/${name}`
}

function addTags(repository: ScratchRepository, random: Random): void {
  const commits = repository.text(['rev-list', '--all']).split('\n')
  for (let i = 0; i < 4; i++) repository.git(['tag', '-a', '-m', `tag ${i}`, `v${i}`, random.pick(commits)])
  repository.git(['tag', '-a', '-m', 'a tag of a tag', 'of-tag', 'v0'])
  repository.git(['tag', '-a', '-m', 'and one of that', 'of-tag-of-tag', 'of-tag'])
  repository.git(['tag', '-a', '-m', 'a tree', 'of-tree', `${commits[0]}^{tree}`])
  const blob = repository.store('blob', 'a blob that only a tag holds')
  repository.git(['tag', '-a', '-m', 'a blob', 'of-blob', blob])
  repository.git(['tag', 'light-blob', blob])
}

function addOddObjects(repository: ScratchRepository): void {
  const blob = repository.store('blob', 'odd\n')
  const empty = repository.store('tree', '')
  const inner = repository.store('tree', treeEntry('40000', 'nothing', empty))
  const odd = repository.store(
    'tree',
    Buffer.concat([
      treeEntry('100664', 'group', blob),
      treeEntry('100644', 'latin-\xe9', blob),
      treeEntry('040000', 'zero', inner),
    ]),
  )
  const forms = [
    `tree ${odd}\n\nno author`,
    `tree ${empty}\nauthor J\xe9 <a@b> 1 --700\ncommitter J\xe9 <a@b> 1 --700\nencoding ISO-8859-1\n\nna\xefve`,
    `tree ${inner}\nauthor A <a@b>\ncommitter A <a@b>\n\n`,
    `tree ${empty}\nauthor A <a@b> 1 +0000\nauthor B <a@b> 2 +0000\ncommitter A <a@b> 3 +0000\n` +
      `gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned`,
  ]
  for (const [i, form] of forms.entries()) {
    const commit = repository.store('commit', Buffer.from(form, 'latin1'))
    repository.git(['update-ref', `refs/heads/odd${i}`, commit])
  }
  const undated = repository.store('tag', `object ${odd}\ntype tree\ntag undated\n\nno tagger`)
  repository.git(['update-ref', 'refs/tags/undated', undated])
}

function treeEntry(mode: string, name: string, oid: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')])
}
