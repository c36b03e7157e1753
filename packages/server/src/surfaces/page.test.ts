import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { html } from './html.ts'
import { bodyIn, framed } from './page.ts'
import { mountPages } from './pages.ts'

test('a page contains its body byte for byte, and its title cannot break out of the frame', () => {
  const body = bodyIn('invite.html')
  const page = framed({
    title: `<script>'"`,
    style: 'sign-in',
    main: html`${body}<p>${'a & b'}</p>\n`,
  })
  assert.ok(page.includes('<title>&lt;script&gt;&#39;&quot;</title>'))
  assert.match(page, /<\/header>\n {4}<main class="card">[^]*<\/main>\n<p>a &amp; b<\/p>\n {2}<\/body>\n<\/html>\n$/)
  assert.deepEqual([page.includes('http-equiv'), page.includes('type="module"')], [false, false])
})

test('a page loads the script that it names, and reloads itself after the time that it names', () => {
  const page = framed({ title: 'x', style: 'docs', script: 'reference', refreshSeconds: 2, main: html`` })
  assert.match(
    page,
    /<meta http-equiv="refresh" content="2">\n {4}<title>x<\/title>[^]*docs\.css">\n {4}<script type="module" src="\/assets\/reference\.js"><\/script>\n {2}<\/head>/,
  )
})

test('each page besides the console has one body, and every file that it loads exists', async () => {
  const fastify = Fastify()
  mountPages(fastify)
  for (const url of ['/sign-in', '/sign-in/link', '/sign-in/reset', '/sign-in/email', '/invites/accept', '/account']) {
    const { body } = await fastify.inject(url)
    assert.equal(body.split('<main').length, 2, url)
    const loaded = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    assert.equal(loaded.filter((path) => path.endsWith('.js')).length, 2, `${url} loads the theme and one more script`)
    for (const path of loaded) assert.equal((await fastify.inject(path)).statusCode, 200, path)
  }
  await fastify.close()
})
