import { ServiceError } from '@postroad/sdk/service-error'
import { callSession } from '../data/client.ts'
import { useToast } from '../ui/toast.tsx'

function leave(): void {
  location.assign('/sign-in')
}

/** Ends the session, or reports that it could not: a person who seems to be signed out may leave the machine. */
export function useSignOut(): () => void {
  const toast = useToast()
  const stay = (error: unknown): void => {
    if (error instanceof ServiceError && error.status === 401) leave()
    else toast({ text: `You are still signed in. ${error instanceof Error ? error.message : ''}`, kind: 'fail' })
  }
  return () => void callSession('DELETE').then(leave, stay)
}
