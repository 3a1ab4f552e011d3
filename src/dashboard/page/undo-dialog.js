import { confirmDialog } from './confirm-dialog.js'
import { post } from './server.js'

/** Opens the dialog that undoes a change of a limiter's settings. `done` says that it is undone. */
export function undoDialog({ title, content, limiter, change, done, actions, onDone }) {
  confirmDialog({
    title,
    verb: 'Undo',
    reason: 'it was a mistake',
    content,
    actions,
    async run(author) {
      await post('undo', { limiter, change, ...author })
      return done
    },
    onDone,
  })
}
