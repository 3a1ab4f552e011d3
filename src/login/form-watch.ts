import type { LoginWriter } from '../http/response-writer.js'
import { asciiOf } from '../platform.js'
import { show } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/** How many responses are watched. A form sent again after a wrong password appears among the first ones. */
const WATCHED = 50
/** Matches a field for a password, in whatever case and with whatever spaces a page writes it. */
const FIELD = /type\s*=\s*["']?password\b/i

/** Watches the bodies of a guard's responses. */
export interface FormWatch<Res> {
  /** Follows a response; `undefined` if it is not watched. */
  follow(res: Res): { recordSuccess(): void } | undefined
  /** Records that the application rejects passwords by status, so that there is nothing to watch for. */
  recordRejection(): void
}

/**
 * Creates a watch on an application that may respond to a wrong password with 200 and the form again. It
 * warns once if the status of a response counts as a success, but its page has a password field. It searches
 * each piece of a body without copying it, so it misses fields that span two pieces, and those in compressed
 * bodies.
 */
export function formWatch<Res>(guard: string, writer: LoginWriter<Res>): FormWatch<Res> {
  let left = writer.seeBody === undefined ? 0 : WATCHED

  function warn(): void {
    left = 0
    warnOnce(
      'HEADGATE_LOGIN_SUCCESSES',
      `headgate: loginGuard ${show(guard)} counted a response as a success, but its page has a password ` +
        'field. Does your application send the form again after a wrong password? If so, respond with 401, ' +
        'or call guard.reportFailure(req).',
      `${guard} form`, // the guard may cause other warnings with this code
    )
  }

  return {
    follow(res) {
      if (left === 0) return undefined
      left--
      let hasForm = false
      let isSuccess = false
      writer.seeBody?.(res, (piece) => {
        if (left === 0 || hasForm || !hasPasswordField(piece)) return
        const type = writer.getHeader(res, 'content-type')
        hasForm = type === undefined || String(type).includes('html')
        if (hasForm && isSuccess) warn()
      })
      return {
        recordSuccess() {
          isSuccess = true // before or after the first piece
          if (hasForm) warn()
        },
      }
    },
    recordRejection() {
      left = 0
    },
  }
}

function hasPasswordField(piece: unknown): boolean {
  if (typeof piece === 'string') return FIELD.test(piece)
  return piece instanceof Uint8Array && FIELD.test(asciiOf(piece))
}
