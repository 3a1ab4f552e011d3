import { eachHeader, type HeaderList } from './header-list.js'
import { FOR_CACHES } from './keep-uncacheable.js'
import type { ResponseWriter } from './response-writer.js'

/** Takes back what `presetDenial` set, unless the headers of the response have been sent. */
interface PresetDenial {
  /** Restores the earlier status. */
  restoreStatus(): void
  /** Restores the earlier status and headers. */
  withdraw(): void
}

/** Sets the status and the headers of a denial on a response that the application will send. */
export function presetDenial<Res>(
  writer: ResponseWriter<Res>,
  res: Res,
  status: number,
  headers: HeaderList,
): PresetDenial {
  const before = removeEarlier(writer, res)
  const putStatusBack = writer.presetStatus(res, status)
  writer.setHeaders(res, headers)

  function restoreStatus(): void {
    if (!writer.areHeadersSent(res)) putStatusBack()
  }

  function withdraw(): void {
    if (writer.areHeadersSent(res)) return
    putStatusBack()
    eachHeader(headers, (name) => writer.removeHeader(res, name))
    for (const [name, value] of before) writer.setHeaders(res, [name, String(value)])
  }

  return { restoreStatus, withdraw }
}

/** Removes the headers that earlier middleware set and a denial must not have. Returns them. */
export function removeEarlier<Res>(writer: ResponseWriter<Res>, res: Res): Map<string, unknown> {
  const removed = new Map<string, unknown>()
  for (const name of writer.headerNames(res)) {
    if (!FOR_CACHES.test(name) && name.toLowerCase() !== 'retry-after') continue
    removed.set(name, writer.getHeader(res, name))
    writer.removeHeader(res, name)
  }
  return removed
}
