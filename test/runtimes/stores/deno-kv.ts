import { denoKvStore } from 'headgate/deno-kv'

declare const Deno: { openKv(path: string): Promise<Parameters<typeof denoKvStore>[0]> }

export const store = denoKvStore(await Deno.openKv(process.env.KV_PATH as string))
