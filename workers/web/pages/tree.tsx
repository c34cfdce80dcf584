import { decodeText } from '../../../git/object/text.ts'
import { revisionHref } from '../hrefs.ts'
import type { TreeData } from '../load/tree.ts'
import { Breadcrumbs } from '../parts/breadcrumbs.tsx'
import { Layout } from '../parts/layout.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import type { Site } from '../site.ts'
import { TreeBody } from './tree-body.tsx'

export function TreePage(data: TreeData, site: Site) {
  const { frame, place } = data
  const { name } = place.revision
  const isRoot = place.path.length === 0
  return (
    <Layout
      site={site}
      title={`${isRoot ? 'Files' : decodeText(place.path)} at ${name} · ${frame.actor}/${frame.name}`}
      canonical={revisionHref(frame.base, 'tree', name, place.path)}
    >
      <RepositoryHead frame={frame} tab="code" revision={name} />
      {isRoot ? (
        <h1 class="hidden">Files at {name}</h1>
      ) : (
        <Breadcrumbs frame={frame} revision={name} path={place.path} />
      )}
      <TreeBody data={data} />
    </Layout>
  )
}
