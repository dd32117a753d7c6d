import { describe, expect, it } from 'vitest'
import { escapeHtml, html } from '../../pipeline/contract/html.ts'

describe('html', () => {
  it('escapes values in text and in attributes', () => {
    const hostile = `<script>alert("x")</script>&'`
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;">&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;</p>',
    )
  })

  it('inserts pieces of HTML, and lists of them, as they are', () => {
    expect(html`<ul>${['a', 'b<'].map((item) => html`<li>${item}</li>`)}</ul>${html`<hr>`}${7}`.text).toBe(
      '<ul><li>a</li><li>b&lt;</li></ul><hr>7',
    )
  })

  it('escapes no other characters', () => expect(escapeHtml('ß 🦜 {}')).toBe('ß 🦜 {}'))
})
