import { countOf } from '../format.ts'
import { encodePath } from '../hrefs.ts'
import type { CompareData } from '../load/compare.ts'
import { LISTED } from '../load/compare.ts'
import type { RefChoices } from '../load/ref-choices.ts'
import { CommitList } from '../parts/commit-list.tsx'
import { Diff } from '../parts/diff.tsx'
import { Layout } from '../parts/layout.tsx'
import { CommitId, Name } from '../parts/name.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import type { Site } from '../site.ts'

export function ComparePage(data: CompareData, site: Site) {
  const { frame, headFrame, headRevision, choices, base, head, commits, ahead, behind, mergeBase, view, diff } = data
  const here = `${frame.base}/compare/${encodePath(base)}...${encodePath(head)}`
  return (
    <Layout
      site={site}
      title={`${base}...${head} · ${frame.actor}/${frame.name}`}
      canonical={here}
      isPassing={diff.from > 0}
    >
      <RepositoryHead frame={frame} tab="compare" />
      <h1>
        What <Name>{head}</Name> has and <Name>{base}</Name> does not
      </h1>
      <form class="compare" action={`${frame.base}/compare`}>
        <Field name="base" label="From" value={base} />
        <Field name="head" label="To" value={head} />
        <button class="button" type="submit">
          Compare
        </button>
        <Names choices={choices} />
      </form>
      <p class="lead">
        {mergeBase === null ? (
          'Their histories have nothing in common: all files are shown.'
        ) : (
          <>
            {countOf(ahead, 'commit')} ahead, {countOf(behind, 'commit')} behind. They part at{' '}
            <CommitId base={frame.base} oid={mergeBase} />.
          </>
        )}
      </p>
      {ahead > LISTED && diff.from === 0 && <p class="note">The newest {LISTED} commits are listed.</p>}
      {diff.from === 0 && <CommitList frame={headFrame} commits={commits} />}
      <Diff frame={headFrame} diff={diff} view={view} revision={headRevision} here={here} />
    </Layout>
  )
}

function Field({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <label>
      {label} <input type="text" name={name} value={value} list="refs" spellcheck="false" autocomplete="off" />
    </label>
  )
}

function Names({ choices: { branches, tags } }: { choices: RefChoices }) {
  return (
    <datalist id="refs">
      {[...branches, ...tags].map(({ revision }) => (
        <option value={revision}></option>
      ))}
    </datalist>
  )
}
