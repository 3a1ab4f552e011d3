import { clientAddress, type ProxyTest } from '../log/client-address.js'
import type { FieldSources } from '../log/line-reader.js'
import type { LoggedRequest } from '../log/request-line.js'
import { isoTime } from '../output.js'

/** A value that was read, and the field that it is from; `null` for what the line does not have. */
export interface UnderstoodValue {
  readonly value: string | null
  readonly from: string | null
}

/** How a line was understood. */
export interface Understood {
  readonly client: UnderstoodValue
  readonly user: UnderstoodValue
  readonly time: UnderstoodValue
  readonly method: UnderstoodValue
  readonly path: UnderstoodValue
}

/** Returns how a request was understood whose values are from these fields. */
export function understand(request: LoggedRequest, sources: FieldSources, isProxy: ProxyTest): Understood {
  const client = clientAddress(request.address, request.forwarded, isProxy)
  const clientFrom = client === request.address ? sources.address : sources.forwarded
  return {
    client: valueFrom(client, clientFrom),
    user: valueFrom(request.user, sources.user),
    time: valueFrom(isoTime(request.timeMs) ?? undefined, sources.time),
    method: valueFrom(request.method, sources.method),
    path: valueFrom(request.path, sources.path),
  }
}

function valueFrom(value: string | undefined, from: string | undefined): UnderstoodValue {
  return { value: value || null, from: from ?? null }
}
