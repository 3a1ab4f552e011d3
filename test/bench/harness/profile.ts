import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises'

/** What a function and those that it called took: microseconds of CPU, or bytes. */
interface Frame {
  readonly name: string
  readonly url: string
  readonly own: number
  readonly children: readonly Frame[]
}

/** What some functions took by themselves, by name and place. */
export type Self = Readonly<Record<string, number>>

const SAMPLING_US = 200
const SAMPLING_BYTES = 4096

/** Samples this process. `cpu` and `bytes` stop the sampling, and return what was sampled. */
export function sampler() {
  const session = new Session()
  session.connect()
  return {
    async startCpu(): Promise<void> {
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US })
      await session.post('Profiler.start')
    },
    async cpu(): Promise<Frame> {
      return timeFrame((await session.post('Profiler.stop')).profile)
    },
    startBytes(): Promise<void> {
      return session.post('HeapProfiler.startSampling', {
        samplingInterval: SAMPLING_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      } as HeapProfiler.StartSamplingParameterType)
    },
    async bytes(): Promise<Frame> {
      return bytesFrame((await session.post('HeapProfiler.stopSampling')).profile.head)
    },
  }
}

function timeFrame({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const timesUs = new Map<number, number>()
  for (const [i, id] of samples.entries()) timesUs.set(id, (timesUs.get(id) ?? 0) + (timeDeltas[i] ?? 0))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const frameOf = ({ id, callFrame, children = [] }: Profiler.ProfileNode): Frame => ({
    name: callFrame.functionName,
    url: callFrame.url,
    own: timesUs.get(id) ?? 0,
    children: children.map((child) => frameOf(byId.get(child) as Profiler.ProfileNode)),
  })
  return frameOf(nodes[0] as Profiler.ProfileNode)
}

function bytesFrame({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): Frame {
  const { functionName: name, url } = callFrame
  return { name, url, own: selfSize, children: children.map(bytesFrame) }
}

/** Returns what everything took. */
export function totalOf({ own, children }: Frame): number {
  return children.reduce((sum, child) => sum + totalOf(child), own)
}

/**
 * Returns what the functions of files like `files` took, and whatever they called, by function: without
 * Express' `next`, where the rest of the application begins.
 */
export function selfUnder(frame: Frame, files: RegExp): Self {
  const self: Record<string, number> = {}
  const visit = ({ name, url, own, children }: Frame, isUnder: boolean) => {
    const isRest = name === 'next' && url.includes('router')
    const counts = !isRest && (isUnder || files.test(url))
    const place = `${name || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`
    if (counts && own > 0) self[place] = (self[place] ?? 0) + own
    for (const child of children) visit(child, counts)
  }
  visit(frame, false)
  return self
}
