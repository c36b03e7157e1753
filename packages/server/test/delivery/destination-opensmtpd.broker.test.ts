import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aRoute } from '../stage/delivery-routes.ts'
import { eventually, type World } from '../stage/harness.ts'
import { anOpenSmtpd, noOpenSmtpd, type OpenSmtpd } from '../stage/open-smtpd.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations that send emails, with a mail server that people run. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

if (noOpenSmtpd !== false) process.emitWarning(`The tests of emails with OpenSMTPD are skipped: ${noOpenSmtpd}.`)

const CONFIG = { kind: 'smtp', from: 'events@example.com', to: ['ada@example.com'], encryption: 'off' } as const

describe('an email to OpenSMTPD', { skip: noOpenSmtpd }, () => {
  let server: OpenSmtpd
  before(async () => {
    server = await anOpenSmtpd()
  })
  after(() => server.stop())

  test('an event arrives in the mailbox once, with its headers and the body of a webhook', async () => {
    const config = { ...CONFIG, subject: 'New in {dataset}: {id}' }
    const to = await aRoute(world, server.url, { config })
    const record = await to.send('{"n":1,"text":"Grüße"}')
    const { attempts } = await to.in(record, 'delivered')
    assert.match(attempts[0].response_body, /^250 2\.0\.0 [0-9a-f]{8} Message accepted for delivery/)
    const [mail = '', ...more] = await eventually('the mail server has stored the email', async () => {
      const mails = server.mails()
      return mails.length === 0 ? undefined : mails
    })
    assert.deepEqual(more, [])
    const end = mail.indexOf('\n\n')
    const headers = headersIn(mail.slice(0, end))
    assert.deepEqual(
      ['from', 'to', 'subject', 'message-id', 'auto-submitted', 'service-event-id', 'service-dataset'].map((name) =>
        headers.get(name),
      ),
      [
        CONFIG.from,
        CONFIG.to[0],
        `New in ${to.dataset}: ${record}`,
        `<${record}@example.com>`,
        'auto-generated',
        record,
        to.dataset,
      ],
    )
    assert.match(headers.get('received') ?? '', /by localhost \(OpenSMTPD\) with ESMTP /)
    assert.equal(headers.get('content-transfer-encoding'), 'quoted-printable')
    const { id, dataset, received_at: receivedAt, data } = JSON.parse(decoded(mail.slice(end + 2)))
    assert.deepEqual([id, dataset, data], [record, to.dataset, { n: 1, text: 'Grüße' }])
    assert.equal(Date.parse(headers.get('date') ?? ''), Math.floor(Date.parse(receivedAt) / 1_000) * 1_000)
  })

  test('an email to a person without a mailbox is refused, and the attempt shows the response of the server', async () => {
    const config = { ...CONFIG, to: ['bob@example.com'] }
    const to = await aRoute(world, server.url, { config })
    const { attempts } = await to.in(await to.send(), 'retrying', 'failed')
    assert.equal(attempts[0].error_code, 'refused')
    assert.match(
      attempts[0].error_detail,
      /^The mail server refused the email\. It says: .*524 5\.2\.4 Mailing list expansion problem: <bob@example\.com>/,
    )
  })
})

/** The headers, with lower-case names. A header can have several lines. */
const headersIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .replaceAll(/\n[ \t]+/g, ' ')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )

const decoded = (text: string): string =>
  Buffer.from(
    text
      .replaceAll('=\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()
