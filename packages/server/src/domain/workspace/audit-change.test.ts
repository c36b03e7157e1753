import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownChange } from './audit-change.ts'

test('a change shows only the members that differ, before and after', () => {
  assert.deepEqual(
    shownChange({
      before: { name: 'Orders', enabled: true, updated_at: '1' },
      after: { name: 'Orders', enabled: false, updated_at: '2' },
    }),
    { before: { enabled: true }, after: { enabled: false } },
  )
})

test('a created or deleted resource is shown as a whole, without the credentials that responses contain', () => {
  const webhook = { name: 'Orders', webhook_slug: 'aaaa', public_url: 'https://a.example/x', created_at: '1' }
  assert.deepEqual(shownChange({ before: null, after: webhook }), { before: null, after: { name: 'Orders' } })
  assert.deepEqual(shownChange({ before: webhook, after: null }), { before: { name: 'Orders' }, after: null })
})

test('a URL shows its origin and a fingerprint, because its path and query may be a credential', () => {
  const { after } = shownChange({
    before: null,
    after: {
      url: 'https://hooks.example.com/services/T0/s3cret',
      settings: { url: 'wss://feed.example/?token=s3cret' },
    },
  })
  assert.match(JSON.stringify(after), /"https:\/\/hooks\.example\.com\/… \([0-9a-f]{12}\)"/)
  assert.match(JSON.stringify(after), /"wss:\/\/feed\.example\/… \([0-9a-f]{12}\)"/)
  assert.doesNotMatch(JSON.stringify(after), /s3cret/)
})

test('a URL with a user name and a password shows neither', () => {
  const { after } = shownChange({ before: null, after: { url: 'https://ann:s3cret@db.example/x' } })
  assert.doesNotMatch(JSON.stringify(after), /s3cret|ann/)
})

test('a long value is replaced by its length and its hash', () => {
  const { before, after } = shownChange({ before: { text: 'a'.repeat(5_000) }, after: { text: 'b'.repeat(5_000) } })
  assert.match(JSON.stringify(before), /"characters":5002,"sha256":"[0-9a-f]{12}"/)
  assert.notDeepEqual(before, after)
})
