import type { HttpError } from '../../http/http-error.ts'
import { Layout } from '../parts/layout.tsx'
import { visibleText } from '../render/text.ts'
import type { Site } from '../site.ts'

/** What went wrong, and what one can do about it. */
export function ErrorPage({ status, code, message }: HttpError, site: Site) {
  const { title, help } = wordsFor(status, code)
  return (
    <Layout site={site} title={title} isPassing>
      <section class="error">
        <p class="status-code" aria-hidden="true">
          {status}
        </p>
        <h1>{title}</h1>
        <p class="lead">{sentence(visibleText(message))}</p>
        <p>{help}</p>
        <p>
          <a class="button" href="/">
            To the front page
          </a>
        </p>
      </section>
    </Layout>
  )
}

interface Words {
  readonly title: string
  readonly help: string
}

function wordsFor(status: number, code: string): Words {
  if (code === 'StillMirroring') {
    return { title: 'Still being mirrored', help: 'It is fetched from the account. This page loads itself again.' }
  }
  if (status === 404) {
    return {
      title: 'Not found',
      help: 'It may have been renamed, moved or deleted. Search above finds repositories and accounts by their names.',
    }
  }
  if (status === 503) return { title: 'Not to be had now', help: 'Try again in a little while.' }
  if (status >= 500) return { title: 'Something went wrong', help: 'It is our fault, and has been noted.' }
  if (status === 403 || status === 410) return { title: 'Not served here', help: 'Another server may have it.' }
  return { title: 'This cannot be shown', help: 'Look at the address once more.' }
}

function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(start) ? start : `${start}.`
}
