/** A device asks for access by a code. Nothing is granted until the person presses Allow. */
import { doing } from './api.js'
import { ask, make, showChoice } from './choice.js'

const $ = (id) => document.getElementById(id)
const given = new URLSearchParams(location.search).get('user_code')
if (given !== null) {
  $('code').value = given
  $('lead').textContent = 'Does the device show this code?'
}

$('ask').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing($('go'), $('said'), async () => {
    const code = $('code').value
    show(code, await ask('POST', '/api/oauth/device/request', { user_code: code }))
  })
})

function show(code, asked) {
  const { client, device } = asked
  $('title').textContent = `Connect ${client.name}?`
  $('lead').textContent = 'It will act for you in Postroad.'
  $('ask').hidden = true
  const choice = showChoice($('choice'), {
    asked,
    facts: [
      ['Code', make('span', { className: 'host' }, code.toUpperCase())],
      ['Device', device.name ?? 'Unknown'],
      ['Address', device.ip ?? 'Unknown'],
      [
        'Asked',
        new Date(device.asked_at).toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
      ],
    ],
    warning:
      'Allow it only if you have just started this yourself. If somebody sent you this code or this page, refuse: they would get the access.',
  })
  $('buttons').hidden = false
  const decide = (button, body, after) => {
    button.addEventListener(
      'click',
      () =>
        void doing(button, $('said'), async () => {
          await ask('POST', '/api/oauth/device/decision', { user_code: code, ...body() })
          $('title').textContent = after.title
          $('lead').textContent = after.text
          $('choice').hidden = true
          $('buttons').hidden = true
        }),
    )
  }
  decide($('allow'), () => ({ decision: 'allow', ...choice() }), {
    title: 'Connected',
    text: 'The device goes on by itself. You can close this page.',
  })
  decide($('deny'), () => ({ decision: 'deny' }), {
    title: 'Refused',
    text: 'The device has no access. You can close this page.',
  })
}
