import type { HomeData } from '../load/home.ts'
import { Layout } from '../parts/layout.tsx'
import { PushList, RepositoryList } from '../parts/lists.tsx'
import type { Site } from '../site.ts'

export function HomePage(data: HomeData, site: Site) {
  const { pushes, newest } = data
  return (
    <Layout site={site} title="Git in your Atmosphere account" description={SUMMARY}>
      <section class="hero">
        <h1>Git that lives in your Atmosphere account</h1>
        <p class="lead">{SUMMARY}</p>
        <div class="how">
          <div>
            <h2>Clone</h2>
            <pre tabindex="0">{`git clone ${site.origin}/<handle>/<repository>`}</pre>
          </div>
          <div>
            <h2>Push, and it is yours</h2>
            <pre tabindex="0">{`git push ${site.origin}/<your handle>/<repository> main`}</pre>
          </div>
        </div>
        <p class="by">
          Git asks for your handle and an <a href="https://atproto.com/specs/xrpc#app-passwords">app password</a>. The
          push goes into your account, where every other server finds it, too.
        </p>
      </section>
      <div class="two">
        <section>
          <h2>Newest pushes</h2>
          {pushes.length > 0 ? <PushList pushes={pushes} /> : <p class="note">Nothing has been pushed yet.</p>}
        </section>
        <section>
          <h2>New repositories</h2>
          {newest.length > 0 ? <RepositoryList repositories={newest} /> : <p class="note">There is none yet.</p>}
        </section>
      </div>
    </Layout>
  )
}

const SUMMARY =
  'A repository is a handful of records in your own AT Protocol account. Clone it, push to it and read it here; move to another host, and it comes along.'
