import type { RouteAnswer, Routes } from '@postroad/contract'

type Kind = RouteAnswer<Routes['ssoRequests']['create']>['request']['kinds'][number]

/** The subject of a request to the operators. */
export const REQUESTED: Readonly<Record<Kind, string>> = {
  sso: 'Single sign-on',
  organization: 'Organization',
  google_workspace: 'Google Workspace',
}
