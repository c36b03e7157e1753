import { useQueryClient } from '@tanstack/react-query'
import { clientOf } from '../data/client.ts'
import { usePlace } from '../data/place.ts'
import { useToast } from '../ui/toast.tsx'

type Deletion = { readonly name: string; readonly id: string; readonly rooms: readonly string[] }

/** Reports a deletion and offers to undo it. It never depends on the deleted thing, which can be gone from the page. */
export function useUndo(): (deletion: Deletion) => void {
  const { project } = usePlace()
  const asking = useQueryClient()
  const toast = useToast()
  return ({ name, id, rooms }) => {
    const undo = async (): Promise<void> => {
      try {
        await clientOf(project.id).deletions.restore({ id })
        toast({ text: `${name} is restored.` })
      } catch (error) {
        toast({ text: error instanceof Error ? error.message : String(error), kind: 'fail' })
      }
      const changed = [...rooms, 'deletions']
      await Promise.all(changed.map((room) => asking.invalidateQueries({ queryKey: [project.id, room] })))
    }
    toast({ text: `${name} is deleted.`, action: { label: 'Undo', go: () => void undo() } })
  }
}

/** The id of the deletion in the answer to a removal; undefined: it cannot be undone. */
export function deletionIn(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('deletion' in answer)) return undefined
  const { deletion } = answer
  return typeof deletion === 'object' && deletion !== null && 'id' in deletion ? String(deletion.id) : undefined
}
