import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Security","description":"","frontmatter":{},"headers":[],"relativePath":"guides/security.md","filePath":"guides/security.md"}');
const _sfc_main = { name: "guides/security.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="security" tabindex="-1">Security <a class="header-anchor" href="#security" aria-label="Permalink to &quot;Security&quot;">​</a></h1><p>owner-sso handles people&#39;s passwords, passcodes and tokens. A mistake here unlocks somebody&#39;s car.</p><h2 id="reporting" tabindex="-1">Reporting <a class="header-anchor" href="#reporting" aria-label="Permalink to &quot;Reporting&quot;">​</a></h2><p>Please report a vulnerability privately, through the repository host&#39;s &quot;Report a vulnerability&quot; form, not as a public issue. Say what an attacker gains and how to reproduce it; a test against the emulator is the best report. You get an answer within three working days, and a fix or a plan within two weeks. Never send a real password or token: use the emulator&#39;s accounts instead.</p><h2 id="what-we-promise" tabindex="-1">What we promise <a class="header-anchor" href="#what-we-promise" aria-label="Permalink to &quot;What we promise&quot;">​</a></h2><ul><li>A credential, passcode, cookie, verifier, code or token leaves the process only in the requests that need it, to an allowed host, into the store or session that you chose, and to whom you hand it: not in a log, error, URL, page, metric or child process&#39;s arguments.</li><li>A redirect leads only to the configured service&#39;s own registrable domain or to a listed region, checked before anything is sent.</li><li>No option turns certificate verification off. While the environment turns it off, no request goes to the service or the owner API on another machine.</li><li>No request of a sign-in is ever repeated, so owner-sso causes no login storm. A refresh is sent again only if no answer accepted or refused its token.</li><li>Only their owner and root can read token files.</li></ul><p>The <a href="./security-model">security model</a> says where each secret goes and what is left to you. <a href="./../internals/reliability">What may fail</a> covers lost answers, crashes and clocks.</p><h2 id="what-we-cant-promise" tabindex="-1">What we can&#39;t promise <a class="header-anchor" href="#what-we-cant-promise" aria-label="Permalink to &quot;What we can&#39;t promise&quot;">​</a></h2><p>See <a href="./security-model#what-it-cant-stop">what it can&#39;t stop</a>: whoever reads the process&#39;s memory, runs as the same user, or sets <code>NODE_DEBUG=http,tls</code> has the secrets.</p><h2 id="supported-versions" tabindex="-1">Supported versions <a class="header-anchor" href="#supported-versions" aria-label="Permalink to &quot;Supported versions&quot;">​</a></h2><p>The newest minor release line gets fixes.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guides/security.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const security = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  security as default
};
