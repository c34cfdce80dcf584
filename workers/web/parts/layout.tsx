import { assetHref } from '../assets/assets.ts'
import { CARD_HEIGHT, CARD_WIDTH } from '../cards/card.ts'
import { type Child, Html } from '../jsx/html.ts'
import type { Site } from '../site.ts'
import { SearchIcon, SkeinMark, ThemeIcon } from './icons.tsx'

export interface LayoutProps {
  readonly site: Site
  /** Without the name of the site. */
  readonly title: string
  /** A sentence for search engines and link previews. */
  readonly description?: string | null
  /** The URL that this page is best known by; default: its own, without a query. */
  readonly canonical?: string
  /** Whether lists and engines are to leave it out. */
  readonly isPassing?: boolean
  /** Path of the Atom feed of what is shown. */
  readonly feed?: string
  /** Path of the picture that stands for the page where somebody shares its address. */
  readonly card?: string
  /** Where the page's repository is, for `go get`. */
  readonly goImport?: string
  readonly children?: Child
}

/** A whole page. */
export function Layout({
  site,
  title,
  description,
  canonical,
  isPassing,
  feed,
  card,
  goImport,
  children,
}: LayoutProps) {
  return (
    <>
      {new Html('<!doctype html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} · Skein`}</title>
          {description && <meta name="description" content={description} />}
          {isPassing ? (
            <meta name="robots" content="noindex" />
          ) : (
            <link rel="canonical" href={site.origin + (canonical ?? site.path)} />
          )}
          {feed && <link rel="alternate" type="application/atom+xml" href={feed} />}
          {card && <Preview site={site} title={title} description={description ?? ''} card={card} />}
          {goImport && <meta name="go-import" content={goImport} />}
          <link rel="icon" href={assetHref('icon.svg')} type="image/svg+xml" />
          <link rel="stylesheet" href={assetHref('style.css')} />
          <script src={assetHref('theme.js')}></script>
          <script src={assetHref('page.js')} defer></script>
          <script src={assetHref('palette.js')} defer></script>
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to the content
          </a>
          <Top query={site.query} />
          <main id="main">{children}</main>
          <footer class="foot">
            <p>
              <a href="/">Skein</a>: repositories live in their owners’ AT Protocol accounts; this page is drawn from a
              mirror of one.
            </p>
            <p>
              {feed && (
                <>
                  <a href={feed}>Atom feed</a>.{' '}
                </>
              )}
              For programs: <a href="/llms.txt">llms.txt</a>
            </p>
          </footer>
        </body>
      </html>
    </>
  )
}

interface PreviewProps {
  readonly site: Site
  readonly title: string
  readonly description: string
  readonly card: string
}

/** What others show of the page. https://ogp.me */
function Preview({ site, title, description, card }: PreviewProps) {
  const properties = {
    'og:type': 'website',
    'og:site_name': 'Skein',
    'og:title': title,
    'og:description': description,
    'og:url': site.origin + site.path,
    'og:image': site.origin + card,
    'og:image:width': CARD_WIDTH,
    'og:image:height': CARD_HEIGHT,
    'og:image:alt': description === '' ? title : `${title}: ${description}`,
  }
  return (
    <>
      {Object.entries(properties).map(([property, content]) => (
        <meta property={property} content={content} />
      ))}
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}

function Top({ query }: { readonly query: string }) {
  return (
    <header class="top">
      <a class="mark" href="/">
        <SkeinMark />
        <span>skein</span>
      </a>
      <search>
        <form action="/search" class="find">
          <SearchIcon />
          <input
            type="search"
            name="q"
            value={query}
            placeholder="Search repositories and accounts"
            aria-label="Search"
          />
        </form>
      </search>
      <a class="sign-in" href="/sign-in">
        Sign in
      </a>
      <button type="button" class="quiet" id="theme" hidden aria-label="Change between light and dark">
        <ThemeIcon />
      </button>
    </header>
  )
}
