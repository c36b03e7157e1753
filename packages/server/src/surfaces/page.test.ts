import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from './html.ts'
import { bodyIn, framed } from './page.ts'

test('a page has its body letter by letter in the frame, and what it is called cannot break out of it', () => {
  const body = bodyIn('invite.html')
  const page = framed({ title: `<script>'"`, style: 'sign-in', main: html`${body}<p>${'a & b'}</p>\n` })
  assert.ok(page.includes('<title>&lt;script&gt;&#39;&quot;</title>'))
  assert.match(page, /<\/header>\n {4}<main class="card">[^]*<\/main>\n<p>a &amp; b<\/p>\n {2}<\/body>\n<\/html>\n$/)
  assert.deepEqual([page.includes('http-equiv'), page.includes('type="module"')], [false, false])
})

test('a page loads the script that it names, and itself again when it says so', () => {
  const page = framed({ title: 'x', style: 'reference', script: 'reference', refreshSeconds: 2, main: html`` })
  assert.match(page, /<meta http-equiv="refresh" content="2">\n {4}<title>x<\/title>[^]*reference\.css">\n {4}<script type="module" src="\/assets\/reference\.js"><\/script>\n {2}<\/head>/)
})
