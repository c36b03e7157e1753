import type { ReactElement } from 'react'
import { useChange, usePortal } from '../data/portal.ts'
import { Button } from '../ui/button.tsx'
import { Notice, Part, RefusedNotice } from '../ui/states.tsx'
import { answerText } from '../ui/status.tsx'
import { Answer } from './answer.tsx'
import { took } from '../../ui/time.tsx'

/** Sends a sample, and shows the answer of the receiver. */
export function TestPart({ id }: { readonly id: string }): ReactElement {
  const { refused } = usePortal()
  const test = useChange(['nothing'], (server) => server.testDestination(id))
  const attempt = test.data?.attempt
  return (
    <Part
      title="Test"
      text="Sends one signed sample event now. The test is not retried and is not listed under Deliveries."
      beside={
        <Button
          disabled={refused !== undefined || test.isPending}
          title={refused}
          onClick={() => test.mutate(undefined)}
        >
          {test.isPending ? 'Sending…' : 'Send test'}
        </Button>
      }
    >
      <RefusedNotice error={test.error} />
      {attempt !== undefined && !test.isPending && (
        <>
          <Notice tone={attempt.outcome === 'succeeded' ? 'ok' : 'fail'}>
            {attempt.outcome === 'succeeded'
              ? `Your server accepted the test with ${answerText(attempt) ?? ''} in ${took(attempt.duration_ms)}.`
              : `The test failed: ${answerText(attempt) ?? 'no response'}.`}
          </Notice>
          <Answer of={attempt} />
        </>
      )}
    </Part>
  )
}
