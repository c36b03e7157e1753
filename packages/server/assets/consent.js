/** A program asks for access. Nothing is granted until the person presses Allow. */
import { doing } from './api.js'
import { ask, make, showChoice } from './choice.js'

const $ = (id) => document.getElementById(id)
const path = `${location.pathname.replace(/\/$/, '')}/request`

try {
  const asked = await ask('GET', path)
  const { client, redirect } = asked
  document.title = `Connect ${client.name} · Postroad`
  $('title').textContent = `Connect ${client.name}?`
  $('lead').textContent = 'It will act for you in Postroad.'
  const choice = showChoice($('choice'), {
    asked,
    facts: [
      ['Program', publisher(client)],
      ['Returns to', make('span', { className: 'host' }, redirect.host)],
    ],
    ...(redirect.local
      ? {
          warning: `${client.name} says that it runs on this device. Any program on this device could say so. Allow it only if you have just started it yourself.`,
        }
      : {}),
  })
  $('buttons').hidden = false
  const decide = (button, body, after) =>
    button.addEventListener(
      'click',
      () =>
        void doing(button, $('said'), async () => {
          const { next } = await ask('POST', path, body())
          location.assign(next)
          $('choice').hidden = true
          $('buttons').hidden = true
          $('lead').hidden = true
          return after
        }),
    )
  decide($('allow'), () => ({ decision: 'allow', ...choice() }), `Allowed. Go on in ${client.name}.`)
  decide($('deny'), () => ({ decision: 'deny' }), `Refused. ${client.name} has no access.`)
} catch (error) {
  $('lead').textContent = error.message
  $('lead').setAttribute('role', 'alert')
}

function publisher({ name, host }) {
  const proof = host === null ? 'registered itself; nobody has checked its name' : `published by ${host}`
  return make('span', {}, name, make('small', {}, proof))
}
