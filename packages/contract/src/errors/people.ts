import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about members, invites, API keys, signing in and accounts. */
export const people = {
  api_key_expired: { status: 401, text: 'This API key has expired. Create a new one in the console.' },
  api_key_revoked: { status: 401, text: 'This API key was revoked. Create a new one in the console.' },
  member_limit_reached: {
    status: 403,
    text: 'The plan allows no more members. Remove one, or move to a larger plan at upgrade_url.',
  },
  invite_over: { status: 404, text: 'This invite was already used or revoked, or it has expired. Ask for a new one.' },
  invite_for_another: {
    status: 403,
    text: 'This invite was sent to another email address. Sign in to the account with that address, or change the address of your account to it.',
  },
  last_owner: { status: 409, text: 'A workspace must have an owner. Transfer the ownership to another member first.' },
  sign_in_failed: {
    status: 401,
    text: 'The email address or the password is wrong. Try again, or ask for a link by email.',
  },
  link_over: { status: 401, text: 'This link was already used, or it has expired. Ask for a new one.' },
  recent_sign_in_required: {
    status: 403,
    text: 'This change needs a sign-in within the last 15 minutes, and this session is older. Sign in again, then repeat the change.',
  },
  passkey_refused: { status: 401, text: 'This passkey was not accepted here. Try again, or sign in another way.' },
  no_account: {
    status: 403,
    text: 'No account here belongs to this identity yet. Ask an admin to invite you, then sign in again.',
  },
  no_workspace: {
    status: 403,
    text: 'You are not a member of any workspace. Accept an invite, or ask an admin for one.',
  },
  sso_not_available: {
    status: 501,
    text: 'A workspace cannot configure its own identity provider on this version of Postroad. Request SSO with POST /admin/api/sso/requests.',
  },
  email_domain_not_allowed: {
    status: 403,
    text: 'Accounts of this email domain may not sign in here. Use your work account.',
  },
  wrong_password: {
    status: 403,
    text: 'The current password is wrong. Try again, or sign out and ask for a reset by email.',
  },
  weak_password: {
    status: 400,
    text: 'The password is too easy to guess. Use at least 12 characters; three or four unrelated words are good.',
  },
  email_taken: { status: 409, text: 'Another account has this email address. Sign in to that one instead.' },
  passkeys_unavailable: {
    status: 409,
    text: 'Passkeys need a host name. Set PUBLIC_URL to a name instead of an IP address.',
  },
  passkey_limit_reached: { status: 409, text: 'This account has the maximum number of passkeys. Remove one first.' },
  too_many_attempts: { status: 429, text: 'Too many attempts. Wait retry_after seconds, then try again.' },
  oidc_not_configured: {
    status: 404,
    text: 'No identity provider is set up here. Sign in with an email address and password, or by a link.',
  },
  oidc_state_lost: {
    status: 400,
    text: 'This sign-in was started in another browser or more than 10 minutes ago. Start again.',
  },
  identity_provider_error: {
    status: 502,
    text: 'The identity provider did not respond correctly. Try again in a moment; the log of the server contains the cause.',
  },
} as const satisfies ReasonTexts
