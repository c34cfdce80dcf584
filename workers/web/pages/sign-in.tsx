import type { SignInData } from '../load/sign-in.ts'
import { Layout } from '../parts/layout.tsx'
import type { Site } from '../site.ts'

/** Until one can sign in by a browser: what needs no account, and how to write with one. */
export function SignInPage({ guide }: SignInData, site: Site) {
  return (
    <Layout site={site} title="Sign in" description="How to use your Atmosphere account with Skein">
      <section class="prose">
        <h1>Sign in</h1>
        <p>
          Reading needs no account, and there is nothing to sign up for: your repositories live in the Atmosphere
          account that you have, at Bluesky or any other host. Signing in by the browser is not there yet. Git is:
        </p>
        <pre tabindex="0">{`git push ${site.origin}/<your handle>/<repository> main`}</pre>
        <p>
          The user name is your handle, the password an app password of your account. A name that is not taken becomes a
          new repository.
        </p>
        <p>
          Agents and scripts commit with tokens of their own, which you make and revoke: <a href={guide}>how they do</a>
          .
        </p>
      </section>
    </Layout>
  )
}
