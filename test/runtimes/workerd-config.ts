interface Served {
  /** The module, in the folder of the configuration. */
  readonly module: string
  readonly address: string
  /** Where Durable Objects are kept: a folder that exists. */
  readonly storage: string
  readonly flags: readonly string[]
  /** The classes of Durable Objects, by the name of their binding. */
  readonly durableObjects: Readonly<Record<string, string>>
  /** How many more Workers run the module, each in its own isolate, with the objects of the first one. */
  readonly isolates: number
}

/** Above it, workerd refuses to start: it is the date of its release. */
const COMPATIBILITY_DATE = '2026-11-17'

/** Returns the configuration of a workerd that serves a module on loopback, and may call servers there. */
export function workerdConfig({ module, address, storage, flags, durableObjects, isolates }: Served): string {
  const classes = Object.entries(durableObjects)
  const others = Array.from({ length: isolates }, (_, i) => i + 1)
  const worker = `
  modules = [(name = "app", esModule = embed "${module}")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ${JSON.stringify(flags)},`
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "app", worker = .app),
    ${others.map((i) => `(name = "app${i}", worker = .app${i}),`).join('\n    ')}
    (name = "disk", disk = (path = "${storage}", writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "${address}", http = (), service = "app")],
);
const app :Workerd.Worker = (${worker}
  durableObjectNamespaces = [${classes.map(([, name]) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`)}],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [${[
    ...classes.map(([binding, name]) => `(name = "${binding}", durableObjectNamespace = "${name}")`),
    ...others.map((i) => `(name = "ISOLATE_${i}", service = "app${i}")`),
  ]}],
);
${others
  .map(
    (i) => `const app${i} :Workerd.Worker = (${worker}
  bindings = [${classes.map(([binding, name]) => `(name = "${binding}", durableObjectNamespace = (className = "${name}", serviceName = "app"))`)}],
);`,
  )
  .join('\n')}
`
}
