import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Headless poller","description":"","frontmatter":{},"headers":[],"relativePath":"apps/headless-poller.md","filePath":"apps/headless-poller.md"}');
const _sfc_main = { name: "apps/headless-poller.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="headless-poller" tabindex="-1">Headless poller <a class="header-anchor" href="#headless-poller" aria-label="Permalink to &quot;Headless poller&quot;">​</a></h1><p>A script to copy: <code>src/main.ts</code> watches an owner&#39;s vehicles without a browser or a person. The guide <a href="./../guides/unattended-scripts">unattended scripts</a> explains the design.</p><ul><li>Tokens live in a <a href="./../packages/token-store-file">folder</a>, and outlive a restart.</li><li>It signs in by itself only if no usable tokens are stored, and in one run at most once in six hours. For the second factor, it makes a passcode from the account&#39;s TOTP secret.</li><li>If waiting helps, or if the owner API answers with a status such as 403, a failed poll is a warning in the log. Anything else ends the script with code 78.</li><li>SIGTERM and Ctrl-C end it cleanly: it waits for a refresh under way.</li><li>It logs with <a href="https://getpino.io" target="_blank" rel="noreferrer">pino</a>, with tokens and VINs masked.</li></ul><h2 id="run-it" tabindex="-1">Run it <a class="header-anchor" href="#run-it" aria-label="Permalink to &quot;Run it&quot;">​</a></h2><div class="language-sh vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">sh</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#702C00;--shiki-dark:#FFB757;">npm</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> run</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> build</span></span>
<span class="line"><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;">cd</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> apps/headless-poller</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">export</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> OWNER_SSO_AUTH_URL</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">https://auth.example.com OWNER_SSO_API_URL</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">https://owner-api.example.com</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">export</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> OWNER_SSO_ACCOUNT</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">ann@example.com OWNER_SSO_CREDENTIAL</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">… OWNER_SSO_TOTP_SECRET</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">…</span></span>
<span class="line"><span style="--shiki-light:#702C00;--shiki-dark:#FFB757;">npm</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> start</span></span></code></pre></div><p><code>OWNER_SSO_FACTOR</code> names the device that the secret belongs to, if the account has several. <code>TOKENS</code> is the folder of the token store, and <code>POLL_SECONDS</code> (60) the time between two polls. <code>OWNER_SSO_TRANSPORT</code> (<a href="./../packages/core#transports">transports</a>), <code>OWNER_SSO_REDIRECT_URI</code> and <code>OWNER_SSO_TOKEN_URL</code> (an address) are as for the command line.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("apps/headless-poller.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const headlessPoller = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  headlessPoller as default
};
