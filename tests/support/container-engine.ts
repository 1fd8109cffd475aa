/** An engine that runs containers, where one answers. */
import { spawnSync } from 'node:child_process'

/** Milliseconds that an engine has to answer: where there is none, the tests do not wait for it. */
const patience = 3000

/**
 * Whether an engine answers, and has this image: tests fetch nothing by themselves. Unlike other programs it is never
 * demanded; what needs it is not registered where it is missing. Linux alone: elsewhere, `--network host` is another machine.
 */
export function hasContainerEngine(image: string): boolean {
  if (process.platform !== 'linux') return false
  return [['info'], ['image', 'inspect', image]].every((args) => {
    const { status } = spawnSync('docker', [...args, '--format', '{{json .}}'], { stdio: 'ignore', timeout: patience })
    return status === 0
  })
}
