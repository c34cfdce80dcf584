import { describe, expect, it } from 'vitest'
import { Html } from '../../../workers/web/jsx/html.ts'

const HOSTILE = `"><script>alert(1)</script>'&`

describe('JSX', () => {
  it('escapes text and attributes, whatever they hold', () => {
    const page = (
      <p title={HOSTILE} class="a">
        {HOSTILE}
      </p>
    )
    const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;'
    expect(page.text).toBe(`<p title="${escaped}" class="a">${escaped}</p>`)
  })

  it('leaves out what is no text, and writes void elements without an end', () => {
    const page = (
      <div hidden={false} data-a={undefined} id="x">
        {null}
        {false}
        {0}
        {['a', <br />, [new Html('<i>b</i>')]]}
        <input disabled />
      </div>
    )
    expect(page.text).toBe('<div id="x">0a<br><i>b</i><input disabled></div>')
  })

  it('calls components with their children', () => {
    const Quote = ({ by, children }: { readonly by: string; readonly children?: Html }) => (
      <>
        {children} ({by})
      </>
    )
    const page = (
      <Quote by="<A>">
        <b>x</b>
      </Quote>
    )
    expect(page.text).toBe('<b>x</b> (&lt;A&gt;)')
  })
})
