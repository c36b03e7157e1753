import { counted } from './text-list.ts'

/** `1 member, 2 invites`: the same words on every screen that counts people. */
export function seatsText(members: number, invites: number): string {
  const people = counted(members, 'member')
  return invites === 0 ? people : `${people}, ${counted(invites, 'invite')}`
}

/** The name of a plan: `self_hosted` is an identifier. */
export function planText(plan: string): string {
  return plan === 'self_hosted' ? 'Self-hosted' : plan.charAt(0).toUpperCase() + plan.slice(1).replaceAll('_', ' ')
}
