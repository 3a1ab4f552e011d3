import type { FieldSources } from '../log/line-reader.js'
import type { LoggedRequest } from '../log/request-line.js'
import type { FileCheck } from './file-check.js'
import type { Reason } from './left-out.js'

/** Takes what the lines of logs are. */
export interface LineSink {
  /** `msBack` is by how much the request is behind the newest one of its log. The object serves all lines. */
  onRequest(request: LoggedRequest, msBack: number, file: FileCheck, line: number): void
  onUnreadable(file: FileCheck, line: number, reason: Reason): void
  /** A line that is not a request. */
  onOther(reason: Reason): void
  onLine(): void
  /** The first lines of a log, which show which addresses in it are proxies'. */
  onSample(requests: readonly AddressPair[], file: FileCheck): void
  /** The first request of a log, before it is confirmed. `sources` is where its values are from. */
  onFirst(request: LoggedRequest, sources: FieldSources, file: FileCheck): void
}

type AddressPair = Pick<LoggedRequest, 'address' | 'forwarded'>
