/**
 * The script for PowerShell, 5.1 and later.
 */
import { type Commands, fileFlags, flagsOf, namesOf, shellNames } from './words.ts'

/**
 * Where nothing is answered, PowerShell completes the path of a file. A name with any character that means something there is put
 * into quotes; of those it knows typographic ones as well, which its own function escapes.
 */
export function powershell(commands: Commands): string {
  const rows = commands.map((each) => `    ${each.name} = ${listed(flagsOf(each))}`)
  return `# PowerShell completion of owner-sso
Register-ArgumentCompleter -Native -CommandName owner-sso -ScriptBlock {
  param($word, $line, $position)
  $flags = @{
${rows.join('\n')}
  }
  $before = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.Extent.Text })
  $command = $before | Select-Object -Skip 1 | Where-Object { $flags.ContainsKey($_) } | Select-Object -First 1
  $start = $word -replace '^[''"]'
  if ($before[-1] -in ${listed(fileFlags(commands))}) { return }
  $found = if ($before[-1] -eq '--account') { owner-sso accounts 2>$null }
    elseif ($before[-1] -eq 'completion') { ${listed(shellNames)} }
    elseif ($command) { $flags[$command] }
    else { ${listed([...namesOf(commands), ...flagsOf()])} }
  $found | Where-Object { $_.StartsWith($start, 'OrdinalIgnoreCase') } | ForEach-Object {
    $escaped = [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($_)
    $text = if ($_ -match '^[A-Za-z0-9-][A-Za-z0-9.@:=+_-]*$') { $_ } else { "'$escaped'" }
    [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
  }
}`
}

/** None of our own words has a quote in it. */
const listed = (words: readonly string[]): string => `@(${words.map((word) => `'${word}'`).join(', ')})`
