import { useMemo } from 'react'
import { useWebhooks } from '../../../data/names.ts'
import { titleOf, type Titled } from '../../../parts/preview.ts'

type Sent = Titled & { readonly webhook_id?: string | null | undefined }

/** The titles of events, by the settings of the endpoints of the project. */
export function useTitles(): (event: Sent) => string {
  const { all } = useWebhooks()
  return useMemo(() => {
    const settings = new Map(all.map(({ id, event_title }) => [id, event_title]))
    return (event) => titleOf(event, settings.get(event.webhook_id ?? ''))
  }, [all])
}
