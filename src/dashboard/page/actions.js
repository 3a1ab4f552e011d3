import { askName } from './ask-name.js'
import { post } from './server.js'

const NAME = 'headgate-operator'
/** The most changes that are sent at a time. */
const AT_ONCE = 4

/** Creates what changes something, under the name of the operator. */
export function changeActions(session) {
  /** Resolves with who acts: `{}` if the server knows; `undefined` if no name was given. */
  async function author() {
    if (session().operator !== undefined) return {}
    const known = localStorage.getItem(NAME)
    if (known) return { by: known }
    const by = await askName()
    if (by === undefined) return undefined
    localStorage.setItem(NAME, by)
    return { by }
  }

  return {
    /** Returns the name that this browser remembers; `undefined` if the server knows who acts. */
    rememberedName: () => (session().operator === undefined ? (localStorage.getItem(NAME) ?? '') : undefined),
    /** Returns who acts, and remembers the name. A change without a name is recorded as one. */
    nameOf(text) {
      if (session().operator !== undefined) return {}
      const by = text.trim()
      if (by !== '') localStorage.setItem(NAME, by)
      return { by: by || 'an unnamed operator' }
    },
    /** Changes something of one client. Returns whether it was done; throws an `Error` if it failed. */
    async change(action, body) {
      const who = await author()
      if (who === undefined) return false
      await post(action, { ...body, ...who })
      return true
    },
    /** Changes something of several clients. Resolves with how many were changed, and what failed. */
    async changeAll(action, identities, body) {
      const who = await author()
      const waiting = who === undefined ? [] : [...identities]
      const failures = []
      let changed = 0
      const work = async () => {
        for (let identity = waiting.shift(); identity !== undefined; identity = waiting.shift()) {
          try {
            await post(action, { ...body, ...who, identity })
            changed++
          } catch ({ message }) {
            failures.push(message)
          }
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      return { changed, failures }
    },
  }
}
