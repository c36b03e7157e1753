import type { Page } from 'playwright-core'
import { endless, heading, press, type Place } from './place.ts'
import type { RareScene } from './rare-scene.ts'

const typed = (page: Page, text: string): Promise<void> => page.getByText(text, { exact: false }).first().waitFor()

async function selectRows(page: Page, count: number): Promise<void> {
  // A list that is still loading renders its rows again, and a click on them is lost.
  await page.getByRole('row').nth(count).waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  for (let row = count; row > 0; row -= 1) await page.getByRole('row').nth(row).getByRole('checkbox').check()
  await page.getByRole('toolbar', { name: 'Selected' }).getByText(`${count} selected`).waitFor()
}

/** The states of the screens of events that need a failure, a selection, or an unfinished entry. */
export const RARE_EVENTS: readonly Place<RareScene>[] = [
  {
    name: 'filters that are refused',
    at: () => 'events?f=total:gt:many&f=nonsense',
    show: ({ page }) => page.getByRole('alert').getByText('"nonsense" has another form').waitFor(),
  },
  {
    name: 'a condition that is complete',
    at: () => 'events',
    show: async ({ page }) => {
      await page.getByRole('row').nth(1).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('total > 4000')
      await typed(page, 'adds total > 4000')
    },
  },
  {
    name: 'a search in what is in no dataset',
    at: () => 'events?q=sewing',
    show: ({ page }) => page.getByRole('row').filter({ hasText: 'in no dataset' }).waitFor(),
  },
  {
    name: 'a filter by endpoint',
    at: ({ bulkId }) => `events?webhook=${bulkId}`,
    show: ({ page }) => page.getByRole('button', { name: 'Remove the filter endpoint is Bulk' }).waitFor(),
  },
  {
    name: 'the newest events of an endpoint',
    at: ({ bulkId }) => `events?sel=${bulkId}`,
    show: ({ page }) => page.getByRole('region', { name: 'Endpoint' }).getByText(/^rec_/).first().waitFor(),
  },
  {
    name: 'a search through many events',
    at: () => 'events?f=total:gt:100000000',
    show: async ({ page }, _scene, look) => {
      let answer: (() => void) | undefined
      let asked = 0
      await page.route('**/search/events?*', async (route) => {
        asked += 1
        if (asked > 2)
          await new Promise<void>((resolve) => {
            answer = resolve
          })
        await route.fulfill({
          json: { records: [], next_cursor: `page${asked}`, scanned: 2_500, reached: '2026-01-15T11:00:00.000Z' },
        })
      })
      await page.reload()
      // Events that arrive meanwhile count too.
      await heading(page, /^5,0\d\d events searched, no match yet$/)
      await look('ongoing')
      await press(page, 'Stop')
      await heading(page, /^0 of 5,0\d\d events match$/)
      answer?.()
      await heading(page, /^0 of 7,5\d\d events match$/)
      await look('stopped')
    },
  },
  {
    name: 'selected events',
    at: () => 'events',
    show: async ({ page }, _scene, look) => {
      await selectRows(page, 3)
      await look('bar')
      await page.keyboard.press('Shift+R')
      await page.getByText(/There is nothing to do\.|deliver(?:y|ies), to /).waitFor()
      await look('plan')
    },
  },
  {
    name: 'export of events',
    at: () => 'events?f=type:equals:order.created',
    show: async ({ page }) => {
      await page.getByRole('row').nth(1).waitFor()
      await press(page, 'More')
      await page.getByRole('menuitem', { name: 'Export…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).waitFor()
    },
  },
  {
    name: 'find in a payload',
    at: ({ longId }) => `events?sel=${longId}`,
    show: async ({ page }) => {
      await page.getByRole('textbox', { name: 'Find in payload' }).fill('nowhere')
      await page.getByText('No match').waitFor()
    },
  },
  {
    name: 'edit and send',
    at: ({ event }) => `events?sel=${event.id}`,
    show: async ({ page }, _scene, look) => {
      const begin = page.getByRole('button', { name: /^Edit and send/ })
      await begin.and(page.locator(':enabled')).click()
      const editor = page.getByRole('textbox', { name: 'Body' })
      await editor.getByText('"order.created"').waitFor()
      await look('editor')
      await editor.focus()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('{"type":"edited", "total": }')
      await page.locator('.cm-lintRange-error, .cm-lintPoint-error').first().waitFor({ state: 'attached' })
      await look('mistake')
      await page.keyboard.press('Escape')
      await page.getByText('Discard what you entered?').waitFor()
      await look('question')
    },
  },
  {
    name: 'send to localhost',
    at: ({ event }) => `events?sel=${event.id}`,
    show: async ({ page }) => {
      await page.getByRole('treeitem').first().waitFor()
      await page.getByRole('region', { name: 'Event', exact: true }).getByRole('button', { name: /^More/ }).click()
      await page.getByRole('menuitem', { name: 'Send to localhost…' }).click()
      await page.getByRole('dialog').getByLabel('Your program').waitFor()
    },
  },
  {
    name: 'send a signed event',
    at: () => 'events',
    show: async ({ page }, _scene, look) => {
      await press(page, 'Send event')
      const endpoint = page.getByRole('dialog').getByLabel('Endpoint')
      await endpoint.selectOption({ label: 'Bare' })
      await typed(page, 'This endpoint has no secret yet')
      await look('without a secret')
      await endpoint.selectOption({ label: 'Signed' })
      await typed(page, 'The server signs the event')
      await look('signed')
    },
  },
  {
    name: 'selected time',
    at: () => 'events?range=30m',
    show: async ({ page }) => {
      const bars = page.getByRole('slider', { name: 'Events over time' })
      await page.getByRole('row').nth(1).waitFor()
      await bars.focus()
      for (const key of ['End', 'Enter']) await page.keyboard.press(key)
      await page.waitForURL(/[?&]from=/)
      await page.getByRole('button', { name: 'Clear the selected time' }).waitFor()
    },
  },
  {
    name: 'selected time of the overview',
    at: () => 'overview?range=1h',
    show: async ({ page }) => {
      await page.getByRole('slider', { name: 'Events over time' }).focus()
      await page.keyboard.press('Shift+ArrowLeft')
      await page.waitForURL(/[?&]from=/)
      await page.getByRole('status').getByText(' in, ').waitFor()
    },
  },
  {
    name: 'project without an endpoint',
    at: () => 'events',
    within: ({ empty }) => empty,
    show: ({ page }) => page.getByRole('button', { name: 'Create an endpoint' }).waitFor(),
  },
  {
    name: 'first steps',
    at: () => 'events',
    within: ({ guided }) => guided,
    show: ({ page }) =>
      page.getByRole('region', { name: 'First steps' }).getByRole('button', { name: 'Create a sink' }).waitFor(),
  },
  {
    name: 'signed start',
    at: () => 'events',
    within: ({ fresh }) => fresh,
    show: async ({ page }, _scene, look) => {
      await page.getByText('Listening').waitFor()
      await page.getByRole('group', { name: 'Sender' }).getByRole('button', { name: 'GitHub' }).click()
      await page.getByRole('button', { name: 'Create the endpoint' }).waitFor()
      await look('sender')
      await press(page, 'Create the endpoint')
      await page.getByLabel('Signed command').waitFor()
      await look('command')
    },
  },
]

/** The same for endpoints, keys, rules and rejected requests. */
export const RARE_SETUP: readonly Place<RareScene>[] = [
  {
    name: 'endpoint with records',
    at: ({ bulkId }) => `endpoints?sel=${bulkId}&tab=records`,
    show: async ({ page }, _scene, look) => {
      await page.getByRole('columnheader', { name: 'customer.country' }).waitFor()
      await page.getByText('1 record too large for this table').waitFor()
      await look('Records')
      await press(page, 'New view')
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor()
      await look('new view')
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Activity' }).click()
      await page.getByRole('list', { name: 'Activity' }).getByRole('listitem').first().waitFor()
      await look('Activity')
      await page.getByRole('tab', { name: 'Versions' }).click()
      await press(page, /^View$/)
      await page.getByRole('cell', { name: 'criteria' }).waitFor()
      await look('version')
    },
  },
  {
    name: 'criteria with an event that does not match',
    at: ({ bulkId }) => `endpoints?sel=${bulkId}&tab=routing`,
    show: async ({ page }) => {
      await page.getByLabel('Comparison of condition 1').selectOption('gt')
      await page.getByLabel('Value of condition 1').fill('10')
      await typed(page, 'but the value is 1')
    },
  },
  {
    name: 'access that is refused',
    at: ({ bulkId }) => `endpoints?sel=${bulkId}&tab=access`,
    show: async ({ page }) => {
      await page.getByLabel('IP allowlist').fill('nonsense')
      await press(page, /^Save$/)
      await page.getByRole('alert').getByText('CIDR range').waitFor()
    },
  },
  {
    name: 'rotation of a URL',
    at: ({ bulkId }) => `endpoints?sel=${bulkId}&tab=setup`,
    show: async ({ page }, _scene, look) => {
      await press(page, 'Show the URL')
      await press(page, 'Rotate the URL')
      const dialog = page.getByRole('dialog', { name: 'Rotate the URL?' })
      await dialog.getByText('The current URL remains valid until').waitFor()
      await look('question')
      await dialog.getByRole('button', { name: 'Rotate the URL' }).click()
      await typed(page, 'The previous URL still works. It expires')
      await look('overlap')
    },
  },
  {
    name: 'test of a signature',
    at: ({ endpointId }) => `endpoints?sel=${endpointId}&tab=verification`,
    show: async ({ page }, _scene, look) => {
      await page.getByText('Test another request', { exact: true }).click()
      const tester = page.getByRole('form', { name: 'Signature tester' })
      await tester.getByLabel('Headers').fill('Content-Type: application/json')
      await tester.getByLabel('Body').fill('{"a":1}')
      await tester.getByRole('button', { name: 'Test the signature' }).click()
      await tester.getByText('The request is rejected: missing header.').waitFor()
      await look('result')
      await press(page, 'Rotate the secret')
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
      await page.getByRole('group', { name: 'New verification secret' }).locator('code').waitFor()
      await look('rotated')
    },
  },
  {
    name: 'senders',
    at: () => 'endpoints?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByLabel('Search senders').fill('no such sender')
      await page.getByText('No sender matches this name or header.').waitFor()
      await look('none found')
      await page.getByLabel('Search senders').fill('')
      await press(page, /^Meta/)
      await page.getByLabel('Verify token').waitFor()
      await look('handshake')
      await press(page, 'Back')
      await press(page, /^Any sender/)
      await page.getByLabel('Name', { exact: true }).waitFor()
      await look('any sender')
    },
  },
  {
    name: 'setup of a sender',
    at: () => 'endpoints?new=1',
    show: async ({ page }, _scene, look) => {
      await press(page, /^Paddle/)
      await press(page, 'Create the URL')
      await page.getByRole('list', { name: 'Steps at the sender' }).waitFor()
      await look('secret')
      await page.getByLabel('Secret', { exact: true }).fill('hush')
      await press(page, 'Store the secret')
      await press(page, 'Send a signed test')
      await page.getByText('Stored. The signature is valid.').waitFor()
      await look('tested')
      await press(page, 'Done')
      await page.getByRole('tab', { name: 'Verification' }).click()
      await page.getByLabel('Signed content').fill('{body}')
      await press(page, 'Save verification')
      await typed(page, 'The timestamp is not signed, so anybody could change it')
      await look('custom HMAC')
    },
  },
  {
    name: 'ingest key that is made',
    at: () => 'ingest-keys?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByLabel('Name', { exact: true }).fill('Rarely used')
      await page.getByText('Only selected').click()
      await page.getByLabel('Datasets', { exact: true }).fill('orders')
      await look('datasets')
      await press(page, /^Create$/)
      await page.getByRole('group', { name: 'Ingest key' }).locator('code').waitFor()
      await look('key')
      await press(page, 'Done')
      await page.getByRole('alert').getByText('It cannot be shown again').waitFor()
      await look('question')
    },
  },
  {
    name: 'signature of an ingest key',
    at: ({ ingestKeyId }) => `ingest-keys?sel=${ingestKeyId}&tab=signing`,
    show: async ({ page }, _scene, look) => {
      await press(page, 'Require a signature')
      await page.getByRole('group', { name: 'Signing secret' }).locator('code').waitFor()
      await look('required')
      await page.getByRole('tab', { name: 'Settings' }).click()
      await page.getByRole('checkbox', { name: 'Send events' }).uncheck()
      await page.getByRole('checkbox', { name: 'Read the stream' }).uncheck()
      await page.getByRole('alert').getByText('Choose at least one').waitFor()
      await look('no scope')
    },
  },
  {
    name: 'rule with a condition and a field',
    at: () => 'rules?new=1',
    show: async ({ page }) => {
      await press(page, 'Add a condition')
      await page.getByLabel('Path of condition 1').fill('total')
      await press(page, 'Add a field')
      await page.getByLabel('Path of field 1').fill('total')
    },
  },
  {
    name: 'rule that does not match',
    at: ({ ruleId }) => `rules?sel=${ruleId}`,
    show: async ({ page }, _scene, look) => {
      await page.getByText('Custom payload').click()
      const payload = page.getByLabel('Payload', { exact: true })
      await payload.fill('{"type":"order"')
      await page.getByText('This is not valid JSON.').waitFor()
      await look('mistake')
      await payload.fill('{"type":"order"}')
      await page.getByText('This is not valid JSON.').waitFor({ state: 'detached' })
      await look('payload')
      await press(page, 'More')
      await page.getByRole('menuitem', { name: 'Delete…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).waitFor()
      await look('deletion')
    },
  },
  {
    name: 'no rule matches',
    at: () => 'rules?q=nothing',
    show: async ({ page }, _scene, look) => {
      await heading(page, 'No rule matches')
      await look('list')
      await page.keyboard.press('s')
      await page.getByLabel('Name', { exact: true }).fill('Nothing')
      await look('name of a view')
      await page.keyboard.press('Enter')
      await page.getByRole('group', { name: 'Views' }).getByRole('button', { name: 'Nothing', exact: true }).waitFor()
      await look('view')
    },
  },
  {
    name: 'fix of a rejected request',
    at: () => 'rejections?sel=ip_not_allowed',
    show: async ({ page }) => {
      await press(page, 'Allow 127.0.0.1')
      await typed(page, '127.0.0.1 is allowed now')
    },
  },
  {
    name: 'test of a rejected request',
    at: () => 'rejections?sel=missing_header',
    show: async ({ page }) => {
      await page.getByText('Test another request', { exact: true }).click()
      const tester = page.getByRole('form', { name: 'Signature tester' })
      await tester.getByLabel('Headers').fill(`X-Hub-Signature-256: sha256=${'ab'.repeat(32)}`)
      await tester.getByLabel('Body').fill('{}')
      await tester.getByRole('button', { name: 'Test the signature' }).click()
      await tester.getByText('The request is rejected: bad signature.').waitFor()
    },
  },
  {
    name: 'rejections that go on',
    at: () => 'rules',
    show: async ({ page }) => {
      const rejection = {
        webhook_id: null,
        ingest_key_id: null,
        reason: 'burst_limited',
        status: 429,
        count: 2,
        at: '2026-01-15T11:00:00.000Z',
        source_ip: '192.0.2.1',
        method: 'POST',
        content_type: null,
        remedy: 'Send less.',
      }
      await endless(page, {
        url: '**/rejections?*',
        pageOf: (n) => ({
          rejections: Array.from({ length: 200 }, (_none, at) => ({
            ...rejection,
            id: `rej_${String(n * 200 + at).padStart(26, '0')}`,
          })),
          next_cursor: `page${n}`,
        }),
      })
      await page.getByRole('link', { name: 'Rejections' }).click()
      await page.getByText(/requests rejected, of the newest 2,000 minutes/).waitFor()
    },
  },
]
